//! Scales a JPEG as the server does, for comparisons with other programs (`benches/images`).
//!
//! `shrink FILE WIDTHxHEIGHT MEDIA_TYPE` writes one scaled image to standard output, or with
//! `--measure` prints the milliseconds of one run for each input line. `shrink --photo WIDTHxHEIGHT` writes a
//! source image.

use std::{
    error::Error,
    fs,
    io::{self, Write},
    time::Instant,
};

use cms_media::testing::images;
use cms_model::media::render::RenderFormat;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut output = io::stdout().lock();
    match arguments[..] {
        ["--photo", size] => {
            let (width, height) = parse_size(size)?;
            output.write_all(&images::photo(width, height))?;
        }
        [file, size, media_type] => output.write_all(&shrink(file, size, media_type)?)?,
        ["--measure", file, size, media_type] => {
            for line in io::stdin().lines() {
                line?;
                let start = Instant::now();
                shrink(file, size, media_type)?;
                writeln!(output, "{}", start.elapsed().as_secs_f64() * 1000.0)?;
            }
        }
        _ => return Err("shrink [--measure] FILE WIDTHxHEIGHT MEDIA_TYPE".into()),
    }
    Ok(())
}

fn shrink(file: &str, size: &str, media_type: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let (width, height) = parse_size(size)?;
    let format = match media_type {
        "image/avif" => RenderFormat::Avif,
        other => RenderFormat::from_media_type(other).ok_or("not the media type of an image")?,
    };
    Ok(images::shrink(&fs::read(file)?, (width.into(), height.into()), format))
}

fn parse_size(size: &str) -> Result<(u16, u16), Box<dyn Error>> {
    let (width, height) = size.split_once('x').ok_or("a size is WIDTHxHEIGHT")?;
    Ok((width.parse()?, height.parse()?))
}
