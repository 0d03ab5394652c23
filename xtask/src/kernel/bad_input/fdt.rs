//! Device trees as bytes, good and bad.

/// A flattened device tree under construction (Devicetree Specification v0.4, chapter 5).
#[derive(Debug, Default)]
pub struct Fdt {
    structure: Vec<u8>,
    strings: Vec<u8>,
}

impl Fdt {
    fn word(&mut self, word: u32) {
        self.structure.extend(word.to_be_bytes());
    }
    fn pad(&mut self) {
        self.structure.resize(self.structure.len().next_multiple_of(4), 0);
    }
    fn begin(&mut self, name: &str) {
        self.word(1);
        self.structure.extend(name.bytes());
        self.structure.push(0);
        self.pad();
    }
    fn end(&mut self) {
        self.word(2);
    }
    fn bytes(&mut self, name: &str, value: &[u8]) {
        self.word(3);
        self.word(value.len() as u32);
        self.word(self.strings.len() as u32);
        self.strings.extend(name.bytes());
        self.strings.push(0);
        self.structure.extend(value);
        self.pad();
    }
    fn cells(&mut self, name: &str, cells: &[u32]) {
        let value: Vec<u8> = cells.iter().flat_map(|cell| cell.to_be_bytes()).collect();
        self.bytes(name, &value);
    }
    fn text(&mut self, name: &str, text: &str) {
        self.bytes(name, format!("{text}\0").as_bytes());
    }
    fn finish(mut self) -> Vec<u8> {
        const HEADER: usize = 40;
        self.word(9);
        let structure_at = HEADER + 16;
        let strings_at = structure_at + self.structure.len();
        let total = strings_at + self.strings.len();
        let header =
            [0xd00d_feed, total, structure_at, strings_at, HEADER, 17, 16, 0, self.strings.len(), self.structure.len()];
        let mut blob: Vec<u8> = header.iter().flat_map(|word| (*word as u32).to_be_bytes()).collect();
        blob.extend([0; 16]);
        blob.extend(self.structure);
        blob.extend(self.strings);
        blob
    }
}

fn halves(range: (u64, u64)) -> [u32; 4] {
    [(range.0 >> 32) as u32, range.0 as u32, (range.1 >> 32) as u32, range.1 as u32]
}

/// What a tree for the machines' board says.
#[derive(Debug, Clone)]
pub struct Tree {
    /// Starts and sizes.
    pub memory: Vec<(u64, u64)>,
    /// The same, of what is not to be used.
    pub reserved: Vec<(u64, u64)>,
    /// MPIDRs.
    pub cpus: Vec<u32>,
    /// Distributor and redistributors; `None`: no GIC.
    pub gic: Option<[(u64, u64); 2]>,
    /// How firmware is called; `None`: no PSCI.
    pub psci: Option<&'static str>,
    /// Start and end.
    pub initrd: Option<(u64, u64)>,
    /// Is there a PL011?
    pub has_uart: bool,
}

impl Tree {
    /// One that is right. `psci`: by which the machine is called.
    pub fn right(psci: &'static str) -> Self {
        Self {
            memory: vec![(0x4000_0000, 0x1000_0000)],
            reserved: Vec::new(),
            cpus: vec![0],
            gic: Some([(0x800_0000, 0x1_0000), (0x80a_0000, 0xf6_0000)]),
            psci: Some(psci),
            initrd: None,
            has_uart: true,
        }
    }

    /// As bytes.
    pub fn blob(&self) -> Vec<u8> {
        let mut fdt = Fdt::default();
        fdt.begin("");
        fdt.cells("#address-cells", &[2]);
        fdt.cells("#size-cells", &[2]);
        for range in &self.memory {
            fdt.begin(&format!("memory@{:x}", range.0));
            fdt.text("device_type", "memory");
            fdt.cells("reg", &halves(*range));
            fdt.end();
        }
        fdt.begin("reserved-memory");
        fdt.cells("#address-cells", &[2]);
        fdt.cells("#size-cells", &[2]);
        for range in &self.reserved {
            fdt.begin(&format!("part@{:x}", range.0));
            fdt.cells("reg", &halves(*range));
            fdt.end();
        }
        fdt.end();
        fdt.begin("cpus");
        fdt.cells("#address-cells", &[1]);
        fdt.cells("#size-cells", &[0]);
        for mpidr in &self.cpus {
            fdt.begin(&format!("cpu@{mpidr:x}"));
            fdt.text("device_type", "cpu");
            fdt.text("compatible", "arm,armv8");
            fdt.cells("reg", &[*mpidr]);
            fdt.text("enable-method", "psci");
            fdt.end();
        }
        fdt.end();
        if let Some([distributor, redistributors]) = self.gic {
            fdt.begin("intc");
            fdt.text("compatible", "arm,gic-v3");
            fdt.cells("#interrupt-cells", &[3]);
            fdt.bytes("interrupt-controller", &[]);
            fdt.cells("reg", &[halves(distributor), halves(redistributors)].concat());
            fdt.end();
        }
        fdt.begin("timer");
        fdt.text("compatible", "arm,armv8-timer");
        fdt.cells("interrupts", &[1, 13, 4, 1, 14, 4, 1, 11, 4, 1, 10, 4]);
        fdt.end();
        if self.has_uart {
            fdt.begin("pl011@9000000");
            fdt.text("compatible", "arm,pl011");
            fdt.cells("reg", &halves((0x900_0000, 0x1000)));
            fdt.cells("interrupts", &[0, 1, 4]);
            fdt.end();
        }
        if let Some(method) = self.psci {
            fdt.begin("psci");
            fdt.text("compatible", "arm,psci-1.0");
            fdt.text("method", method);
            fdt.end();
        }
        fdt.begin("chosen");
        if let Some((start, end)) = self.initrd {
            fdt.cells("linux,initrd-start", &halves((start, end))[..2]);
            fdt.cells("linux,initrd-end", &halves((start, end))[2..]);
        }
        fdt.end();
        fdt.end();
        fdt.finish()
    }
}
