use bus::Size;
use bus::ram::Stale;
use virtio_mmio::testing::Random;

use super::spec::command::*;
use super::*;

const RAM: u64 = 1 << 20;
/// The bank is the second one behind RAM.
const AT: u64 = BANK;

fn flash(writes: Writes) -> (Flash, Arc<Ram>) {
    let ram = Arc::new(Ram::with_flash(RAM, 2 * BANK).unwrap());
    ram.write_flash(AT, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    (Flash::new("flash1", ram.clone(), AT, writes), ram)
}

fn access(offset: u64, size: Size) -> MmioAccess {
    MmioAccess { offset, size, cpu: 0, now: 0 }
}

impl Flash {
    fn load(&mut self, offset: u64) -> u32 {
        self.read(access(offset, Size::Word)).unwrap() as u32
    }
    fn store(&mut self, offset: u64, value: u32) {
        self.write(access(offset, Size::Word), value.into()).unwrap();
    }
    /// A command as drivers write it, to both chips.
    fn command(&mut self, offset: u64, word: u8) {
        self.store(offset, u32::from(word) * 0x1_0001);
    }
    /// Both chips' status.
    fn status(&mut self) -> u8 {
        self.command(0, READ_STATUS);
        let both = self.load(0x100);
        assert_eq!(both & 0xffff, both >> 16);
        both as u8
    }
    fn word(&mut self, offset: u64) -> u32 {
        self.command(0, READ_ARRAY);
        self.load(offset)
    }
    fn program_word(&mut self, offset: u64, value: u32) -> u8 {
        self.command(0, CLEAR_STATUS);
        self.command(offset, PROGRAM);
        self.store(offset, value);
        self.status()
    }
    fn erase_block(&mut self, offset: u64) -> u8 {
        self.command(0, CLEAR_STATUS);
        self.command(offset, ERASE);
        self.command(offset, CONFIRM);
        self.status()
    }
    fn lock_block(&mut self, offset: u64, how: u8) -> u8 {
        self.command(0, CLEAR_STATUS);
        self.command(offset, LOCK_SETUP);
        self.command(offset, how);
        self.status()
    }
}

#[test]
fn array() {
    let (mut f, _) = flash(Writes::Forgotten);
    let read = |f: &mut Flash, offset, size| f.read(access(offset, size)).unwrap();
    assert_eq!(read(&mut f, 0, Size::Double), 0x0807_0605_0403_0201);
    assert_eq!(
        [read(&mut f, 4, Size::Word), read(&mut f, 6, Size::Half), read(&mut f, 3, Size::Byte)],
        [0x0807_0605, 0x807, 4]
    );
    assert_eq!(read(&mut f, BANK - 8, Size::Double), 0);
}

#[test]
fn identifier_and_query() {
    let (mut f, _) = flash(Writes::Refused);
    f.command(0, READ_ID);
    assert_eq!([f.load(0), f.load(4), f.load(8)], [0x89_0089, 0x18_0018, 0]);
    // As Linux' cfi_probe asks: the query command at word 0x55.
    f.command(0x55 * 4, QUERY);
    let text: Vec<u8> = [0x10, 0x11, 0x12, 0x31, 0x32, 0x33].iter().map(|word| f.load(word * 4) as u8).collect();
    assert_eq!(text, b"QRYPRI");
    let byte = |f: &mut Flash, index: u64| u64::from(f.load(index * 4) as u8);
    let (size, blocks) = (1 << byte(&mut f, 0x27), 1 + byte(&mut f, 0x2d) + (byte(&mut f, 0x2e) << 8));
    let block = (byte(&mut f, 0x2f) << 8) + (byte(&mut f, 0x30) << 16);
    assert_eq!((size * CHIPS, blocks * block * CHIPS, block * CHIPS), (BANK, BANK, BLOCK));
    assert_eq!(1 << byte(&mut f, 0x2a), BUFFER as u64 * WORD / CHIPS);
    assert_eq!(f.load(0x40 * 4), 0, "behind the table");
    assert_eq!(f.read(access(0x10 * 4 + 1, Size::Byte)).unwrap(), 0);
    f.command(0, READ_ARRAY);
    assert_eq!(f.load(0), 0x0403_0201);
}

const CHIPS: u64 = spec::CHIPS;

#[test]
fn programming_clears_bits_and_erasing_sets_them() {
    let (mut f, ram) = flash(Writes::Forgotten);
    assert_eq!(f.program_word(0, 0xff00_ff01), status::READY);
    assert_eq!(f.word(0), 0x0400_0201 & 0xff00_ff01);
    ram.mark_code(RAM + AT);
    assert_eq!(f.erase_block(8), status::READY);
    let page = ((RAM + AT) / 4096) as u32;
    assert_eq!(ram.stale_since(&mut 0), Stale::Pages(vec![page]), "code in flash was changed");
    assert_eq!([f.word(0), f.word(BLOCK - 4), f.word(BLOCK)], [u32::MAX, u32::MAX, 0]);
    assert_eq!(f.program_word(BLOCK - 4, 0x1234_5678), status::READY);
    assert_eq!(f.word(BLOCK - 4), 0x1234_5678);
    f.command(0, CLEAR_STATUS);
    f.command(0, ERASE);
    f.command(0, READ_ARRAY);
    assert_eq!(f.status(), status::READY | status::SEQUENCE, "an erase that was not confirmed");
    assert_eq!(f.word(0), u32::MAX);
    f.command(0, CLEAR_STATUS);
    assert_eq!(f.status(), status::READY);
}

#[test]
fn buffered_programs() {
    let (mut f, _) = flash(Writes::Forgotten);
    f.erase_block(0);
    f.command(0x40, BUFFERED_PROGRAM);
    assert_eq!(f.load(0x40), 0x80_0080, "the buffer is ready");
    f.store(0x40, 0x3_0003);
    for n in 0..4 {
        f.store(0x40 + 4 * n, 0x100 + n as u32);
    }
    f.command(0x40, CONFIRM);
    assert_eq!(f.status(), status::READY);
    assert_eq!([f.word(0x3c), f.word(0x40), f.word(0x4c), f.word(0x50)], [u32::MAX, 0x100, 0x103, u32::MAX]);
    // Nothing is programmed: too many words, a word in another block, no confirmation.
    for (count, at, end) in [(BUFFER as u32, 0, CONFIRM), (0, BLOCK, CONFIRM), (0, 0x60, READ_ARRAY)] {
        f.command(0, CLEAR_STATUS);
        f.command(0, BUFFERED_PROGRAM);
        f.store(0, count * 0x1_0001);
        if count == 0 {
            f.store(at, 7);
            f.command(0, end);
        }
        assert_eq!(f.status(), status::READY | status::SEQUENCE, "{count} {at:#x} {end:#x}");
        assert_eq!((f.word(0), f.word(0x60), f.word(BLOCK)), (u32::MAX, u32::MAX, 0));
    }
    f.command(0, CLEAR_STATUS);
    f.command(0, BUFFERED_PROGRAM);
    f.store(0, (BUFFER as u32 - 1) * 0x1_0001);
    for n in 0..BUFFER as u64 {
        f.store(4 * n, n as u32);
    }
    f.command(0, CONFIRM);
    assert_eq!((f.status(), f.word(4 * 1023)), (status::READY, 1023));
}

#[test]
fn locks() {
    let (mut f, _) = flash(Writes::Forgotten);
    assert_eq!(f.lock_block(BLOCK, LOCK), status::READY);
    f.command(0, READ_ID);
    assert_eq!([f.load(8), f.load(BLOCK + 8)], [0, 0x1_0001]);
    assert_eq!(f.program_word(BLOCK, 0), status::READY | status::PROGRAM | status::LOCKED);
    assert_eq!(f.erase_block(BLOCK), status::READY | status::ERASE | status::LOCKED);
    assert_eq!(f.program_word(2 * BLOCK, 0), status::READY);
    assert_eq!(f.lock_block(BLOCK, CONFIRM), status::READY);
    assert_eq!(f.erase_block(BLOCK), status::READY);
    assert_eq!(f.lock_block(BLOCK, LOCK_DOWN), status::READY);
    assert_eq!(f.lock_block(BLOCK, CONFIRM), status::READY | status::LOCKED);
    assert_eq!(f.program_word(BLOCK, 0), status::READY | status::PROGRAM | status::LOCKED);
    assert_eq!(f.word(BLOCK), u32::MAX);
    assert_eq!(f.lock_block(0, 0x77), status::READY | status::SEQUENCE);
}

#[test]
fn a_bank_for_reading_refuses() {
    let (mut f, _) = flash(Writes::Refused);
    assert_eq!(f.program_word(0, 0), status::READY | status::PROGRAM);
    assert_eq!(f.erase_block(0), status::READY | status::ERASE);
    assert_eq!(f.word(0), 0x0403_0201);
}

#[test]
fn what_is_kept_is_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vars.fd");
    assert!(matches!(Kept::open(&path), Err(KeepError::Open { .. })));
    assert!(matches!(Kept::open(dir.path()), Err(KeepError::Kind { .. })));
    std::fs::write(&path, [1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let (mut f, _) = flash(Writes::Kept(Kept::open(&path).unwrap()));
    assert!(matches!(Kept::open(&path), Err(KeepError::InUse { .. })));
    assert_eq!(f.program_word(4, 0), status::READY);
    assert_eq!(std::fs::read(&path).unwrap(), [1, 2, 3, 4, 0, 0, 0, 0]);
    assert_eq!(f.erase_block(BLOCK), status::READY);
    let file = std::fs::read(&path).unwrap();
    assert_eq!((file.len() as u64, file[BLOCK as usize]), (2 * BLOCK, 0xff));
    // A snapshot fits only what the file holds.
    let save = |f: &mut Flash| {
        let mut bytes = Vec::new();
        f.persist(&mut Codec::save(&mut bytes)).unwrap();
        bytes
    };
    let saved = save(&mut f);
    f.persist(&mut Codec::load(&saved)).unwrap();
    assert_eq!(f.program_word(BLOCK, 0), status::READY);
    assert!(f.persist(&mut Codec::load(&saved)).unwrap_err().0.contains("its file"));
    let (mut other, _) = flash(Writes::Forgotten);
    other.persist(&mut Codec::load(&saved)).unwrap();
}

#[test]
fn a_full_disk_shows_as_a_failed_program() {
    // Every write to this file fails so.
    let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else { return };
    let (mut f, _) = flash(Writes::Kept(Kept(full)));
    assert_eq!(f.program_word(0, 0), status::READY | status::PROGRAM);
    assert_eq!(f.erase_block(0), status::READY | status::ERASE);
    assert_eq!(f.word(0), 0x0403_0201, "nothing was acknowledged, nothing changed");
}

#[test]
fn junk() {
    let seed = 0x5eed_0f1a_u64;
    println!("seed {seed:#x}");
    let (mut f, ram) = flash(Writes::Forgotten);
    let (mut other, _) = flash(Writes::Forgotten);
    let mut random = Random::new(seed);
    let commands = [
        READ_ARRAY,
        PROGRAM,
        PROGRAM_ALTERNATE,
        ERASE,
        CONFIRM,
        LOCK_SETUP,
        LOCK,
        LOCK_DOWN,
        BUFFERED_PROGRAM,
        QUERY,
        READ_ID,
        SUSPEND,
        0,
    ];
    let (mut shown, mut changed) = ([0; 4], 0);
    for step in 0..60_000 {
        let size = random.of(&[Size::Byte, Size::Half, Size::Word, Size::Double]);
        // Near the ends and unaligned too, as Normal memory allows.
        let offset = random.of(&[0, BLOCK - 4, BLOCK, BANK - 8]) + random.below(8);
        let (any, command) = (random.word(), u64::from(random.of(&commands)));
        let value = random.of(&[any, 0, command, command, command, 0x1_0001]) & size.mask();
        if random.below(4) == 0 {
            f.read(access(offset, size)).unwrap();
        } else {
            f.write(access(offset, size), value).unwrap();
        }
        shown[f.mode as usize] += 1;
        changed += usize::from(f.expects == Expects::BufferConfirm);
        if step % 100 == 0 {
            let mut bytes = Vec::new();
            f.persist(&mut Codec::save(&mut bytes)).unwrap();
            other.persist(&mut Codec::load(&bytes)).unwrap_or_else(|error| panic!("step {step}: {error}"));
            let hash = |f: &Flash| {
                let mut state = std::hash::DefaultHasher::new();
                f.hash(&mut state);
                std::hash::Hasher::finish(&state)
            };
            assert_eq!(hash(&f), hash(&other));
        }
    }
    assert!(shown.iter().all(|n| *n > 300) && changed > 50, "{shown:?} {changed}");
    // The other bank and RAM are as they were.
    let mut bytes = vec![0; BANK as usize];
    ram.read_flash(0, &mut bytes).unwrap();
    assert!(bytes.iter().all(|byte| *byte == 0));
    let mut bytes = vec![0; RAM as usize];
    ram.read_bytes(0, &mut bytes).unwrap();
    assert!(bytes.iter().all(|byte| *byte == 0));
}
