//! Scales a JPEG as the server does, for comparisons with other programs (`benches/images`).
//!
//! `shrink FILE WIDTHxHEIGHT` writes one scaled image to standard output, or with `--measure`
//! prints the milliseconds of one run for each input line. `shrink --photo WIDTHxHEIGHT` writes a
//! source image.

use std::{
    error::Error,
    fs,
    io::{self, Write},
    time::Instant,
};

use cms_media::testing::pictures;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut output = io::stdout().lock();
    match arguments[..] {
        ["--photo", size] => {
            let (width, height) = size.split_once('x').ok_or("a size is WIDTHxHEIGHT")?;
            output.write_all(&pictures::photo(width.parse()?, height.parse()?))?;
        }
        [file, size] => output.write_all(&shrink(file, size)?)?,
        ["--measure", file, size] => {
            for line in io::stdin().lines() {
                line?;
                let start = Instant::now();
                shrink(file, size)?;
                writeln!(output, "{}", start.elapsed().as_secs_f64() * 1000.0)?;
            }
        }
        _ => return Err("shrink [--measure] FILE WIDTHxHEIGHT".into()),
    }
    Ok(())
}

fn shrink(file: &str, size: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let (width, height) = size.split_once('x').ok_or("a size is WIDTHxHEIGHT")?;
    Ok(pictures::shrink(&fs::read(file)?, (width.parse()?, height.parse()?)))
}
