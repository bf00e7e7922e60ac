//! Decodes the usual JPEG at an eighth, a quarter or half of its size.
//!
//! A small image needs only the first coefficients of a block of 8x8. Decoding the others would be
//! most of the cost: the decoder skips them, several codes at a time. Subsampled chroma is reduced by
//! less than luma, so that all channels have the size of the output.
//!
//! The decoder supports the files that most programs write: baseline or extended sequential, 8
//! bits, one scan, Huffman codes, grey or `YCbCr`. It returns none for all others, and for damaged ones:
//! use a general decoder for those. It checks no limits: memory grows with the size in the header,
//! so the caller checks that first.

mod entropy;
mod header;

use std::f32::consts::{FRAC_1_SQRT_2, PI};

use entropy::BitReader;
use header::{Component, Header};

const SIDE: usize = 8;
/// The position of each coefficient in a block, in the order of coding: in zigzag from the lowest
/// frequencies to the highest.
const ZIGZAG_ORDER: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20,
    13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59,
    52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// Decodes to 1, 2 or 4 eighths of the size, rounded up; one byte per channel.
pub fn decode(file: &[u8], eighths: usize) -> Option<Vec<u8>> {
    let header = Header::read(file)?;
    let h_sampling = header.components.iter().map(|component| component.h_sampling).max()?;
    let v_sampling = header.components.iter().map(|component| component.v_sampling).max()?;
    let mcus_per_row = header.width.div_ceil(SIDE * h_sampling);
    let mcu_rows = header.height.div_ceil(SIDE * v_sampling);
    let (width, height) =
        ((header.width * eighths).div_ceil(SIDE), (header.height * eighths).div_ceil(SIDE));
    let rows = eighths * v_sampling;
    let mut planes = header
        .components
        .iter()
        .map(|component| {
            let sides = (
                eighths * h_sampling / component.h_sampling,
                eighths * v_sampling / component.v_sampling,
            );
            Plane::new(component, sides, mcus_per_row * eighths * h_sampling, rows)
        })
        .collect::<Option<Vec<_>>>()?;

    let mut pixels = Vec::with_capacity(width * height * planes.len());
    let mut bits = BitReader::new(header.scan);
    let mut mcu = 0;
    for row in 0..mcu_rows {
        for column in 0..mcus_per_row {
            if header.restart_interval > 0 && mcu > 0 && mcu % header.restart_interval == 0 {
                bits.restart(mcu / header.restart_interval - 1)?;
                for plane in &mut planes {
                    plane.dc_predictor = 0;
                }
            }
            for plane in &mut planes {
                plane.decode_mcu(&mut bits, column)?;
            }
            mcu += 1;
        }
        for line in 0..rows.min(height - row * rows) {
            match &planes[..] {
                [luma, cb, cr] => {
                    to_rgb(&mut pixels, [luma, cb, cr].map(|plane| plane.line(line, width)));
                }
                [luma, ..] => pixels.extend_from_slice(luma.line(line, width)),
                [] => return None,
            }
        }
    }
    Some(pixels)
}

/// One component of a row of MCUs (minimum coded units), and its decoder state.
struct Plane<'h> {
    component: &'h Component,
    /// Output pixels of a block, horizontally and vertically.
    sides: (usize, usize),
    transform: Transform,
    /// Vertical and horizontal basis functions.
    basis: [Basis; 2],
    /// The last required coefficient.
    last: usize,
    /// The DC coefficient of the previous block.
    dc_predictor: i32,
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
        let is_needed = |&position: &u8| {
            let position = usize::from(position);
            position / SIDE < sides.1 && position % SIDE < sides.0
        };
        Some(Self {
            component,
            sides,
            transform,
            basis: [basis(sides.1), basis(sides.0)],
            last: ZIGZAG_ORDER.iter().rposition(is_needed)?,
            dc_predictor: 0,
            width,
            pixels: vec![0; width * rows],
        })
    }

    fn line(&self, line: usize, width: usize) -> &[u8] {
        &self.pixels[line * self.width..][..width]
    }

    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "at most 16 bits")]
    fn decode_mcu(&mut self, bits: &mut BitReader<'_>, mcu: usize) -> Option<()> {
        let Component { h_sampling, v_sampling, quantization, dc, ac, .. } = self.component;
        for block_row in 0..*v_sampling {
            for block in 0..*h_sampling {
                let mut coefficients = [[0.0; SIDE]; SIDE];
                let mut rows = 0;
                let difference = bits.block((dc, ac), self.last, |at, value| {
                    let position = usize::from(ZIGZAG_ORDER[at % 64]);
                    let (row, column) = (position / SIDE % SIDE, position % SIDE);
                    coefficients[row][column] = value as f32 * quantization[at % 64];
                    rows = rows.max(row + 1);
                })?;
                // Only a damaged file has DC coefficients beyond 16 bits.
                self.dc_predictor = i16::try_from(self.dc_predictor + difference).ok()?.into();
                coefficients[0][0] = self.dc_predictor as f32 * quantization[0];
                let left = (mcu * h_sampling + block) * self.sides.0;
                let start = block_row * self.sides.1 * self.width + left;
                let part = self.pixels.get_mut(start..)?;
                if rows == 0 {
                    let sample = sample(coefficients[0][0] / 8.0);
                    for line in part.chunks_mut(self.width).take(self.sides.1) {
                        line[..self.sides.0].fill(sample);
                    }
                } else {
                    let [vertical, horizontal] = &self.basis;
                    (self.transform)(&coefficients[..rows], part, self.width, vertical, horizontal);
                }
            }
        }
        Some(())
    }
}

/// Basis functions by frequency, one value per pixel.
type Basis = [[f32; SIDE]; SIDE];

/// Transforms the rows of a block to pixels, with a row stride and vertical and horizontal basis
/// functions.
type Transform = fn(&[[f32; SIDE]], &mut [u8], usize, &Basis, &Basis);

/// The basis functions of a side of `pixels`. Fewer pixels use the lower frequencies.
#[expect(clippy::cast_precision_loss, reason = "at most eight")]
fn basis(pixels: usize) -> Basis {
    let mut basis = [[0.0; SIDE]; SIDE];
    for (frequency, function) in basis.iter_mut().enumerate().take(pixels) {
        let height = if frequency == 0 { FRAC_1_SQRT_2 } else { 1.0 } / 2.0;
        for (pixel, value) in function.iter_mut().enumerate().take(pixels) {
            let angle = (2 * pixel + 1) as f32 * frequency as f32 * PI / (2 * pixels) as f32;
            *value = height * angle.cos();
        }
    }
    basis
}

/// Transforms a block to `WIDTH` by `HEIGHT` pixels. Missing rows are zeros.
fn transform<const WIDTH: usize, const HEIGHT: usize>(
    rows: &[[f32; SIDE]],
    pixels: &mut [u8],
    width: usize,
    vertical: &Basis,
    horizontal: &Basis,
) {
    let mut sums = [[0.0; WIDTH]; HEIGHT];
    for (row, function) in rows.iter().take(HEIGHT).zip(vertical) {
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                sums[y][x] += function[y] * row[x];
            }
        }
    }
    for (sums, line) in sums.iter().zip(pixels.chunks_mut(width)) {
        let mut samples = [0.0; WIDTH];
        for frequency in 0..WIDTH {
            for x in 0..WIDTH {
                samples[x] += sums[frequency] * horizontal[frequency][x];
            }
        }
        let line = &mut line[..WIDTH];
        for x in 0..WIDTH {
            line[x] = sample(samples[x]);
        }
    }
}

/// Converts a sum of basis functions around 0 to a sample.
#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "values are clamped")]
fn sample(sum: f32) -> u8 {
    (sum + 128.5) as u8
}

/// Converts luma and two chroma channels to red, green and blue (JFIF 7).
fn to_rgb(pixels: &mut Vec<u8>, [luma, cb, cr]: [&[u8]; 3]) {
    const HALF: i32 = 1 << 15;
    let start = pixels.len();
    pixels.resize(start + 3 * luma.len(), 0);
    let channels = luma.iter().zip(cb).zip(cr);
    for (pixel, ((&luma, &cb), &cr)) in pixels[start..].chunks_exact_mut(3).zip(channels) {
        let luma = (i32::from(luma) << 16) + HALF;
        let (cb, cr) = (i32::from(cb) - 128, i32::from(cr) - 128);
        let channel = |sum: i32| (sum >> 16).clamp(0, 255).to_le_bytes()[0];
        pixel[0] = channel(luma + 91_881 * cr);
        pixel[1] = channel(luma - 22_554 * cb - 46_802 * cr);
        pixel[2] = channel(luma + 116_130 * cb);
    }
}

#[cfg(test)]
mod tests;
