//! The headers of a JPEG, for the supported kinds of files.

use super::entropy::HuffmanTable;

/// The headers before the coded pixels.
pub(super) struct Header<'a> {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) components: Vec<Component>,
    /// MCUs (minimum coded units) between two restart markers; 0 means no markers.
    pub(super) restart_interval: usize,
    /// All bytes after the header of the scan.
    pub(super) scan: &'a [u8],
}

/// One channel: luma, or one of two chroma channels.
pub(super) struct Component {
    id: u8,
    /// Sampling factors: blocks per MCU, horizontally and vertically.
    pub(super) h_sampling: usize,
    pub(super) v_sampling: usize,
    quantization_table: usize,
    /// The quantization factor of each coefficient, in the order of coding.
    pub(super) quantization: [f32; 64],
    pub(super) dc: HuffmanTable,
    pub(super) ac: HuffmanTable,
}

/// Tables by number, in their latest definition.
#[derive(Default)]
struct Tables {
    quantization: [Option<[f32; 64]>; 4],
    dc: [Option<HuffmanTable>; 4],
    ac: [Option<HuffmanTable>; 4],
}

impl<'a> Header<'a> {
    /// Parses a file with one scan: sequential, 8 bits, Huffman codes, grey or `YCbCr`. None for
    /// other files, and for damaged ones.
    pub(super) fn read(file: &'a [u8]) -> Option<Self> {
        let mut rest = file.strip_prefix(b"\xff\xd8")?;
        let mut tables = Tables::default();
        let mut restart_interval = 0;
        let mut is_jfif = false;
        let mut frame = None;
        loop {
            let [0xff, marker, after @ ..] = rest else { return None };
            if *marker == 0xff {
                rest = &rest[1..];
                continue;
            }
            let length = usize::from(u16::from_be_bytes(*after.first_chunk()?));
            let segment = after.get(2..length)?;
            rest = &after[length..];
            match marker {
                0xc0 | 0xc1 if frame.is_none() => frame = Some(read_frame(segment)?),
                0xc4 => tables.read_huffman_tables(segment)?,
                0xdb => tables.read_quantization(segment)?,
                0xdd => restart_interval = u16::from_be_bytes(segment.try_into().ok()?).into(),
                0xda => {
                    let (width, height, mut components) = frame?;
                    if !is_grey_or_ycbcr(&components, is_jfif) {
                        return None;
                    }
                    tables.assign(segment, &mut components)?;
                    return Some(Self { width, height, components, restart_interval, scan: rest });
                }
                0xe0 if segment.starts_with(b"JFIF\0") => is_jfif = true,
                0xe0..=0xef | 0xfe => {}
                _ => return None,
            }
        }
    }
}

fn read_frame(segment: &[u8]) -> Option<(usize, usize, Vec<Component>)> {
    let [8, h1, h0, w1, w0, count, rest @ ..] = segment else { return None };
    let (width, height) = (u16::from_be_bytes([*w1, *w0]), u16::from_be_bytes([*h1, *h0]));
    let count = usize::from(*count);
    if width == 0 || height == 0 || rest.len() != 3 * count {
        return None;
    }
    let mut components = Vec::with_capacity(count);
    for component in rest.chunks_exact(3) {
        let [id, factors, table] = component else { return None };
        let (h_sampling, v_sampling) = (usize::from(factors >> 4), usize::from(factors & 15));
        if !matches!((h_sampling, v_sampling), (1 | 2, 1 | 2)) {
            return None;
        }
        // With a single channel an MCU is one block, whatever its sampling factors.
        let (h_sampling, v_sampling) = if count == 1 { (1, 1) } else { (h_sampling, v_sampling) };
        components.push(Component {
            id: *id,
            h_sampling,
            v_sampling,
            quantization_table: (*table).into(),
            quantization: [0.0; 64],
            dc: HuffmanTable::default(),
            ac: HuffmanTable::default(),
        });
    }
    Some((width.into(), height.into(), components))
}

/// Returns whether the channels are luma and two chroma channels (`YCbCr`), or luma alone. The ids of the channels or a
/// JFIF header indicate `YCbCr`, unless the ids are letters.
fn is_grey_or_ycbcr(components: &[Component], is_jfif: bool) -> bool {
    match components {
        [_] => true,
        [luma, cb, cr] => {
            let ids = [luma.id, cb.id, cr.id];
            ids == [1, 2, 3] || (is_jfif && ids.iter().all(|&id| id < b'"'))
        }
        _ => false,
    }
}

impl Tables {
    fn read_quantization(&mut self, mut segment: &[u8]) -> Option<()> {
        while let [number, rest @ ..] = segment {
            let (table, rest) = rest.split_first_chunk::<64>()?;
            // Numbers above 3 include those of tables with 16 bits.
            *self.quantization.get_mut(usize::from(*number))? = Some(table.map(f32::from));
            segment = rest;
        }
        Some(())
    }

    fn read_huffman_tables(&mut self, mut segment: &[u8]) -> Option<()> {
        while let [number, rest @ ..] = segment {
            let (counts, rest) = rest.split_first_chunk::<16>()?;
            let total = counts.iter().map(|&count| usize::from(count)).sum();
            let (symbols, rest) = rest.split_at_checked(total)?;
            let tables = if number >> 4 == 0 { &mut self.dc } else { &mut self.ac };
            *tables.get_mut(usize::from(number & 15))? = Some(HuffmanTable::new(counts, symbols)?);
            segment = rest;
        }
        Some(())
    }

    /// Assigns the tables to each component, if the scan has all components in order.
    fn assign(&self, segment: &[u8], components: &mut [Component]) -> Option<()> {
        let (count, rest) = segment.split_first()?;
        let (selectors, spectrum) = rest.split_at_checked(2 * components.len())?;
        if usize::from(*count) != components.len() || *spectrum != [0, 63, 0] {
            return None;
        }
        for (component, selector) in components.iter_mut().zip(selectors.chunks_exact(2)) {
            let [id, numbers] = *selector else { return None };
            if id != component.id {
                return None;
            }
            component.quantization = (*self.quantization.get(component.quantization_table)?)?;
            component.dc = self.dc.get(usize::from(numbers >> 4))?.clone()?;
            component.ac = self.ac.get(usize::from(numbers & 15))?.clone()?;
        }
        Some(())
    }
}
