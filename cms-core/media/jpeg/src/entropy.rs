//! Huffman decoding of JPEG: reads coefficients, and skips those that are not needed.

/// Bits per table lookup. Longer codes are rare, and found length by length.
const WINDOW_BITS: u32 = 12;
const ENTRIES: usize = 1 << WINDOW_BITS;
/// Maximum number of bits of a code, and of the value that follows a code.
const MAX_CODE_BITS: usize = 16;
const VALUE_BITS: u32 = 11;

/// The codes of one table.
#[derive(Clone, Default)]
pub(super) struct HuffmanTable {
    /// Indexed by the next [`WINDOW_BITS`] bits: length and symbol of the code at their start. The
    /// length is 0 if the code has more bits.
    short: Vec<(u8, u8)>,
    /// Indexed by the same bits: all codes of coefficients in them, combined.
    runs: Vec<Run>,
    /// By length: one more than the last code, aligned to 16 bits.
    ends: [u32; MAX_CODE_BITS + 1],
    /// By length: the offset of the symbols of its codes.
    offsets: [i32; MAX_CODE_BITS + 1],
    symbols: Vec<u8>,
}

/// Consecutive codes of coefficients, with the values that follow them.
#[derive(Clone, Copy, Default)]
#[repr(align(4))]
struct Run {
    /// Number of bits; 0 when not even one code fits.
    bits: u8,
    /// Number of skipped coefficients.
    coefficients: u8,
    /// The last code ends the block.
    is_last: bool,
}

impl HuffmanTable {
    /// Builds the codes of a table from the number of codes of each length, and their symbols.
    pub(super) fn new(counts: &[u8; MAX_CODE_BITS], symbols: &[u8]) -> Option<Self> {
        let mut codes = Self {
            short: vec![(0, 0); ENTRIES],
            runs: Vec::new(),
            ends: [0; MAX_CODE_BITS + 1],
            offsets: [0; MAX_CODE_BITS + 1],
            symbols: symbols.to_vec(),
        };
        let (mut code, mut used) = (0_u32, 0_usize);
        for (length, &count) in (1_u32..).zip(counts) {
            let first = code;
            for &symbol in symbols.get(used..used + usize::from(count))? {
                if length <= WINDOW_BITS {
                    let start = (code << (WINDOW_BITS - length)) as usize;
                    let entries =
                        codes.short.get_mut(start..start + (1 << (WINDOW_BITS - length)))?;
                    entries.fill((u8::try_from(length).ok()?, symbol));
                }
                code += 1;
            }
            if code > 1 << length {
                return None;
            }
            let index = length as usize;
            codes.ends[index] = code << (16 - length);
            codes.offsets[index] = i32::try_from(used).ok()? - i32::try_from(first).ok()?;
            used += usize::from(count);
            code <<= 1;
        }
        codes.runs = (0..ENTRIES).map(|bits| codes.run(bits)).collect();
        Some(codes)
    }

    /// Finds the code at the start of `bits`, if the code is longer than a window.
    #[cold]
    fn long(&self, bits: u64) -> Option<(u32, u8)> {
        let bits = (bits >> 48) as u32;
        let length = (1..=MAX_CODE_BITS).find(|&length| bits < self.ends[length])?;
        let code = i32::try_from(bits >> (MAX_CODE_BITS - length)).ok()?;
        let symbol = *self.symbols.get(usize::try_from(code + self.offsets[length]).ok()?)?;
        Some((u32::try_from(length).ok()?, symbol))
    }

    /// Combines codes as long as they fit in the bits of one window.
    fn run(&self, window: usize) -> Run {
        let mut run = Run::default();
        while u32::from(run.bits) < WINDOW_BITS {
            let (length, symbol) = self.short[(window << run.bits) % ENTRIES];
            let (zeros, bits) = (symbol >> 4, symbol & 15);
            let is_last = bits == 0 && zeros < 15;
            let is_known = length > 0 && u32::from(run.bits + length) <= WINDOW_BITS;
            if !is_known || u32::from(bits) >= VALUE_BITS || (is_last && zeros > 0) {
                break;
            }
            if is_last {
                return Run { bits: run.bits + length, is_last, ..run };
            }
            run.bits += length + bits;
            run.coefficients += zeros + 1;
        }
        run
    }
}

/// The bits of a scan. Small enough to be copied, so that loops keep it in registers.
#[derive(Clone, Copy)]
pub(super) struct BitReader<'a> {
    unread: &'a [u8],
    /// The next bits, from the most significant one.
    next: u64,
    /// Number of valid bits.
    count: u32,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(scan: &'a [u8]) -> Self {
        Self { unread: scan, next: 0, count: 0 }
    }

    /// Continues after the next restart marker, which must follow here.
    pub(super) fn restart(&mut self, number: usize) -> Option<()> {
        // The last byte is padded with ones.
        let whole_bytes = self.count / 8;
        if whole_bytes > 0 {
            return None;
        }
        let [0xff, marker, rest @ ..] = self.unread else { return None };
        (usize::from(*marker) == 0xd0 + number % 8).then(|| *self = Self::new(rest))
    }

    /// Buffers 32 bits, or all remaining bits of the scan.
    #[inline]
    fn fill(&mut self) {
        if self.count > 32 {
            return;
        }
        if let Some((word, rest)) = self.unread.split_first_chunk::<4>() {
            let word = u32::from_be_bytes(*word);
            // No byte is 0xff.
            if (!word).wrapping_sub(0x0101_0101) & word & 0x8080_8080 == 0 {
                self.next |= u64::from(word) << (32 - self.count);
                self.count += 32;
                self.unread = rest;
                return;
            }
        }
        *self = self.filled_bytewise();
    }

    #[cold]
    fn filled_bytewise(mut self) -> Self {
        while self.count <= 56 {
            let (byte, rest) = match self.unread {
                // 0xff 0 encodes 0xff. Before any other byte, 0xff begins a marker: the scan ends.
                [0xff, 0, rest @ ..] => (0xff, rest),
                [] | [0xff, ..] => break,
                [byte, rest @ ..] => (*byte, rest),
            };
            self.next |= u64::from(byte) << (56 - self.count);
            self.count += 8;
            self.unread = rest;
        }
        self
    }

    #[inline]
    fn take(&mut self, count: u32) -> Option<()> {
        self.count = self.count.checked_sub(count)?;
        self.next <<= count;
        Some(())
    }

    #[inline]
    fn window(&self) -> usize {
        (self.next >> (64 - WINDOW_BITS)) as usize
    }

    #[inline]
    fn symbol(&mut self, codes: &HuffmanTable) -> Option<u8> {
        self.fill();
        let (length, symbol) = *codes.short.get(self.window())?;
        if length > 0 {
            self.take(length.into())?;
            return Some(symbol);
        }
        let (length, symbol) = codes.long(self.next)?;
        self.take(length)?;
        Some(symbol)
    }

    /// Reads a number of some bits; a leading 0 bit means a negative number.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "at most eleven bits")]
    fn value(&mut self, bits: u32) -> Option<i32> {
        if bits == 0 {
            return Some(0);
        }
        if bits > VALUE_BITS {
            return None;
        }
        let value = (self.next >> (64 - bits)) as i32;
        self.take(bits)?;
        Some(if value < 1 << (bits - 1) { value + 1 - (1 << bits) } else { value })
    }

    /// Reads the difference of the DC coefficient from that of the previous block.
    #[inline]
    fn dc_difference(&mut self, codes: &HuffmanTable) -> Option<i32> {
        let bits = self.symbol(codes)?;
        self.value(bits.into())
    }

    /// Reads an AC coefficient: the number of zeros before it, and its value. A value of 0 is one
    /// more zero; without zeros before it, it ends the block.
    #[inline]
    fn ac_coefficient(&mut self, codes: &HuffmanTable) -> Option<(usize, i32)> {
        let symbol = self.symbol(codes)?;
        let (zeros, bits) = (usize::from(symbol >> 4), u32::from(symbol & 15));
        // End-of-band codes (EOBn) occur only in progressive files.
        let is_known = bits > 0 || zeros == 0 || zeros == 15;
        self.value(bits).filter(|_| is_known).map(|value| (zeros, value))
    }

    /// Reads a block: the difference of its DC coefficient, and the AC coefficients up to
    /// `last`. The rest is skipped.
    #[inline]
    pub(super) fn block(
        &mut self,
        (first, others): (&HuffmanTable, &HuffmanTable),
        last: usize,
        mut found: impl FnMut(usize, i32),
    ) -> Option<i32> {
        let mut bits = *self;
        let difference = bits.dc_difference(first)?;
        let mut at = 1;
        while at <= last {
            let (zeros, value) = bits.ac_coefficient(others)?;
            if (zeros, value) == (0, 0) {
                *self = bits;
                return Some(difference);
            }
            at += zeros;
            if value != 0 {
                found(at, value);
            }
            at += 1;
        }
        while at < 64 {
            bits.fill();
            let run = *others.runs.get(bits.window())?;
            let after = at + usize::from(run.coefficients);
            if run.bits > 0 && after < 64 {
                bits.take(run.bits.into())?;
                at = if run.is_last { 64 } else { after };
            } else {
                let (zeros, value) = bits.ac_coefficient(others)?;
                at = if (zeros, value) == (0, 0) { 64 } else { at + zeros + 1 };
            }
        }
        *self = bits;
        (at == 64).then_some(difference)
    }
}
