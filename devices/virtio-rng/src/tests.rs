use virtio_mmio::spec::{reg, ring};
use virtio_mmio::testing::{DATA, Driver, Junk};

use super::*;

const W: u16 = ring::WRITE;

fn device(seed: u64) -> Box<dyn VirtioDevice> {
    Box::new(VirtioRng::new(Entropy::new(seed, "virtio-rng")))
}

fn bytes(driver: &mut Driver, len: u32) -> Vec<u8> {
    assert_eq!(driver.request(&[(DATA, len / 2, W), (DATA + 0x4000, len - len / 2, W)]), [(0, len.min(4096))]);
    let mut bytes = driver.bytes(DATA, len as usize / 2);
    bytes.extend(driver.bytes(DATA + 0x4000, (len - len / 2) as usize));
    bytes
}

#[test]
fn bytes_follow_from_the_seed_and_a_reset_does_not_repeat_them() {
    let (mut one, mut same, mut other) =
        (Driver::live(device(1), 8, 0), Driver::live(device(1), 8, 0), Driver::live(device(2), 8, 0));
    assert_eq!(one.read(reg::DEVICE_ID), 4);
    let first = bytes(&mut one, 63);
    assert_eq!(bytes(&mut same, 63), first);
    assert_ne!(bytes(&mut other, 63), first);
    assert!(first.chunks(8).all(|chunk| chunk.iter().any(|b| *b != 0)));
    let second = bytes(&mut one, 63);
    assert_ne!(second, first);
    same.set_up(0);
    assert_eq!(bytes(&mut same, 63), second);
}

#[test]
fn a_request_gets_a_bounded_number_of_bytes() {
    let mut driver = Driver::live(device(1), 8, 0);
    let bytes = bytes(&mut driver, 3 * 4096);
    assert!(bytes[..4096].iter().any(|b| *b != 0) && bytes[4096..].iter().all(|b| *b == 0));
    assert_eq!(driver.request(&[(DATA, 8, 0)]), []);
    assert!(matches!(driver.mmio.broken(), Some(QueueError::Request(_))));
}

#[test]
fn junk() {
    let junk = Junk { device: &|| device(1), request: &|_, _| (), seed: 0x0004_0004, steps: 20_000 };
    let answered = junk.run();
    assert!(answered > 500, "{answered}");
}
