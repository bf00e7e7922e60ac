//! Decodes the usual JPEG at an eighth, a quarter or half of its size.
//!
//! A small image needs only the first coefficients of a block of 8x8: the others are skipped,
//! several codes at a time, which is most of the cost of decoding. Where colour has fewer pixels
//! than brightness, it is reduced by less, so that all channels have the same output size.
//!
//! The decoder supports the files that most programs write: baseline or extended sequential, 8 bits,
//! one scan, Huffman codes, grey or `YCbCr`. It returns none for all others, and for damaged ones:
//! use a general decoder for those. It checks no limits: memory grows with the size in the header,
//! so the caller checks that first.

mod entropy;
mod header;

use std::f32::consts::{FRAC_1_SQRT_2, PI};

use entropy::Bits;
use header::{Component, Header};

const SIDE: usize = 8;
/// The position of each coefficient in a block, in the order of coding.
const ZIGZAG: [u8; 64] = places();

/// Decodes to 1, 2 or 4 eighths of the size, rounded up; one byte per channel.
pub fn decode(file: &[u8], eighths: usize) -> Option<Vec<u8>> {
    let header = Header::read(file)?;
    let across = header.components.iter().map(|component| component.across).max()?;
    let down = header.components.iter().map(|component| component.down).max()?;
    let units_across = header.width.div_ceil(SIDE * across);
    let units_down = header.height.div_ceil(SIDE * down);
    let (width, height) =
        ((header.width * eighths).div_ceil(SIDE), (header.height * eighths).div_ceil(SIDE));
    let rows = eighths * down;
    let mut planes = header
        .components
        .iter()
        .map(|component| {
            let sides = (eighths * across / component.across, eighths * down / component.down);
            Plane::new(component, sides, units_across * eighths * across, rows)
        })
        .collect::<Option<Vec<_>>>()?;

    let mut pixels = Vec::with_capacity(width * height * planes.len());
    let mut bits = Bits::new(header.scan);
    let mut unit = 0;
    for row in 0..units_down {
        for column in 0..units_across {
            if header.restart_interval > 0 && unit > 0 && unit % header.restart_interval == 0 {
                bits.restart(unit / header.restart_interval - 1)?;
                for plane in &mut planes {
                    plane.level = 0;
                }
            }
            for plane in &mut planes {
                plane.decode_unit(&mut bits, column)?;
            }
            unit += 1;
        }
        for line in 0..rows.min(height - row * rows) {
            match &planes[..] {
                [light, blue, red] => {
                    to_rgb(
                        &mut pixels,
                        light.line(line, width),
                        blue.line(line, width),
                        red.line(line, width),
                    );
                }
                [light, ..] => pixels.extend_from_slice(light.line(line, width)),
                [] => return None,
            }
        }
    }
    Some(pixels)
}

/// A row of units of one component, and its decoder state.
struct Plane<'h> {
    component: &'h Component,
    /// Output pixels of a block, horizontally and vertically.
    sides: (usize, usize),
    transform: Transform,
    /// Vertical and horizontal basis functions.
    waves: [Waves; 2],
    /// The last required coefficient.
    last: usize,
    /// The first coefficient of the previous block.
    level: i32,
    width: usize,
    pixels: Vec<u8>,
}

impl<'h> Plane<'h> {
    fn new(
        component: &'h Component,
        sides: (usize, usize),
        width: usize,
        rows: usize,
    ) -> Option<Self> {
        let transform = match sides {
            (1, 1) => transform::<1, 1>,
            (1, 2) => transform::<1, 2>,
            (2, 1) => transform::<2, 1>,
            (2, 2) => transform::<2, 2>,
            (2, 4) => transform::<2, 4>,
            (4, 2) => transform::<4, 2>,
            (4, 4) => transform::<4, 4>,
            (4, 8) => transform::<4, 8>,
            (8, 4) => transform::<8, 4>,
            (8, 8) => transform::<8, 8>,
            _ => return None,
        };
        let is_needed = |&place: &u8| {
            let place = usize::from(place);
            place / SIDE < sides.1 && place % SIDE < sides.0
        };
        Some(Self {
            component,
            sides,
            transform,
            waves: [waves(sides.1), waves(sides.0)],
            last: ZIGZAG.iter().rposition(is_needed)?,
            level: 0,
            width,
            pixels: vec![0; width * rows],
        })
    }

    fn line(&self, line: usize, width: usize) -> &[u8] {
        &self.pixels[line * self.width..][..width]
    }

    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "at most 16 bits")]
    fn decode_unit(&mut self, bits: &mut Bits<'_>, unit: usize) -> Option<()> {
        let Component { across, down, quantization, dc, ac, .. } = self.component;
        for block_row in 0..*down {
            for block in 0..*across {
                let mut coefficients = [[0.0; SIDE]; SIDE];
                let mut rows = 0;
                let difference = bits.block((dc, ac), self.last, |at, value| {
                    let place = usize::from(ZIGZAG[at % 64]);
                    let (row, column) = (place / SIDE % SIDE, place % SIDE);
                    coefficients[row][column] = value as f32 * quantization[at % 64];
                    rows = rows.max(row + 1);
                })?;
                // Only a damaged file has levels beyond 16 bits.
                self.level = i16::try_from(self.level + difference).ok()?.into();
                coefficients[0][0] = self.level as f32 * quantization[0];
                let left = (unit * across + block) * self.sides.0;
                let start = block_row * self.sides.1 * self.width + left;
                let part = self.pixels.get_mut(start..)?;
                if rows == 0 {
                    let light = light(coefficients[0][0] / 8.0);
                    for line in part.chunks_mut(self.width).take(self.sides.1) {
                        line[..self.sides.0].fill(light);
                    }
                } else {
                    let [down, across] = &self.waves;
                    (self.transform)(&coefficients[..rows], part, self.width, down, across);
                }
            }
        }
        Some(())
    }
}

/// Basis functions by frequency, one value per pixel.
type Waves = [[f32; SIDE]; SIDE];

/// Transforms the rows of a block to pixels, with a row stride and vertical and horizontal basis
/// functions.
type Transform = fn(&[[f32; SIDE]], &mut [u8], usize, &Waves, &Waves);

/// The basis functions of a side of `pixels`. Fewer pixels use the lower frequencies.
#[expect(clippy::cast_precision_loss, reason = "at most eight")]
fn waves(pixels: usize) -> Waves {
    let mut waves = [[0.0; SIDE]; SIDE];
    for (speed, wave) in waves.iter_mut().enumerate().take(pixels) {
        let height = if speed == 0 { FRAC_1_SQRT_2 } else { 1.0 } / 2.0;
        for (pixel, light) in wave.iter_mut().enumerate().take(pixels) {
            let angle = (2 * pixel + 1) as f32 * speed as f32 * PI / (2 * pixels) as f32;
            *light = height * angle.cos();
        }
    }
    waves
}

/// Transforms a block to `ACROSS` by `DOWN` pixels. Missing rows are zeros.
fn transform<const ACROSS: usize, const DOWN: usize>(
    rows: &[[f32; SIDE]],
    pixels: &mut [u8],
    width: usize,
    down: &Waves,
    across: &Waves,
) {
    let mut sums = [[0.0; ACROSS]; DOWN];
    for (row, wave) in rows.iter().take(DOWN).zip(down) {
        for y in 0..DOWN {
            for x in 0..ACROSS {
                sums[y][x] += wave[y] * row[x];
            }
        }
    }
    for (sums, line) in sums.iter().zip(pixels.chunks_mut(width)) {
        let mut lights = [0.0; ACROSS];
        for speed in 0..ACROSS {
            for x in 0..ACROSS {
                lights[x] += sums[speed] * across[speed][x];
            }
        }
        let line = &mut line[..ACROSS];
        for x in 0..ACROSS {
            line[x] = light(lights[x]);
        }
    }
}

/// Converts a sum of basis functions around 0 to a pixel.
#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "values are clamped")]
fn light(sum: f32) -> u8 {
    (sum + 128.5) as u8
}

/// Converts brightness and two colour differences to red, green and blue (JFIF 7).
fn to_rgb(pixels: &mut Vec<u8>, light: &[u8], blue: &[u8], red: &[u8]) {
    const HALF: i32 = 1 << 15;
    let start = pixels.len();
    pixels.resize(start + 3 * light.len(), 0);
    let channels = light.iter().zip(blue).zip(red);
    for (pixel, ((&light, &blue), &red)) in pixels[start..].chunks_exact_mut(3).zip(channels) {
        let light = (i32::from(light) << 16) + HALF;
        let (blue, red) = (i32::from(blue) - 128, i32::from(red) - 128);
        let channel = |sum: i32| (sum >> 16).clamp(0, 255).to_le_bytes()[0];
        pixel[0] = channel(light + 91_881 * red);
        pixel[1] = channel(light - 22_554 * blue - 46_802 * red);
        pixel[2] = channel(light + 116_130 * blue);
    }
}

/// Coefficients are coded from the lowest frequencies to the highest, in zigzag order.
const fn places() -> [u8; 64] {
    let mut places = [0; 64];
    let (mut row, mut column) = (0_u8, 0_u8);
    let mut at = 0;
    while at < 64 {
        places[at] = row * 8 + column;
        if (row + column) % 2 == 0 {
            if column == 7 {
                row += 1;
            } else {
                column += 1;
                row = row.saturating_sub(1);
            }
        } else if row == 7 {
            column += 1;
        } else {
            row += 1;
            column = column.saturating_sub(1);
        }
        at += 1;
    }
    places
}

#[cfg(test)]
mod tests;
