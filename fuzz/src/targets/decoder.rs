//! Any words: their texts, and what they do on any state. Vectors step over what fails.

use std::sync::OnceLock;

use arch::feature::Feature;
use arch::policy::Policy;
use arch::{CpuModel, Pa};
use machine::psci::Firmware;
use machine::{Board, BoardConfig, Devices, Limits, Machine, Outcome, Pace, Semihosting, Topology};
use sem::Machine as _;
use sem::text::disassemble;

use super::guest::{ENTRY, MEMORY};
use crate::{Input, Target};

pub const TARGET: Target = Target { name: "decoder", run, seeds };

const RAM: u64 = 0x4000_0000;
/// Where vectors are, behind the program.
const VECTORS: u64 = ENTRY + 0x800;
/// Instructions and exceptions of a run.
const STEPS: u64 = 800;

fn models() -> &'static [CpuModel] {
    static MODELS: OnceLock<Vec<CpuModel>> = OnceLock::new();
    MODELS.get_or_init(|| {
        let preset = |name| arch::preset::preset(name).expect("a preset");
        let without = |name| preset(name).without_dependents(Feature::FEAT_EL2);
        vec![preset("max"), without("max"), preset("neoverse-n1"), without("cortex-a57")]
    })
}

fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let which = input.below(models().len());
    let model = models()[which].clone();
    let has_el2 = model.has(Feature::FEAT_EL2);
    let mut board = Board::new(BoardConfig {
        models: vec![model],
        memory: MEMORY,
        topology: Topology::default(),
        firmware: None,
        devices: Devices::default(),
        console: Box::new(std::io::sink()),
        policy: input.of(&[Policy::Benign, Policy::Adversarial { seed: 1 }]),
        seed: 0,
        semihosting: input.of(&[Semihosting::Off, Semihosting::On]),
        epoch: 0,
        controller: machine::Controller::default(),
    })
    .expect("a board");
    let pe = &mut board.cpus[0].pe;
    for n in 1..31 {
        let value = match input.below(6) {
            0 => ENTRY + 4 * u64::from(input.u8()),
            1 => RAM + u64::from(input.u16()),
            2 => RAM + MEMORY - u64::from(input.u8()),
            3 => 0x0800_0000 + u64::from(input.u32() & 0x1ff_ffff),
            _ => input.value(),
        };
        pe.set_x_register(n, value);
    }
    for n in 0..input.below(5) {
        pe.set_q(n as u32, sem::Quad::from_halves(input.value(), input.value()));
    }
    pe.set_sp(input.of(&[RAM + 0x1000, RAM + 0x1000, RAM + 0x1008, RAM + 1, 0, u64::MAX]));

    // adr x0, vectors; msr vbar_el1, x0
    let mut program = vec![0x1000_4000, 0xd518_c000];
    if has_el2 {
        // msr vbar_el2, x0
        program.push(0xd51c_c000);
    }
    while !input.is_empty() && program.len() < 256 {
        let word = input.u32();
        let text = disassemble(word, ENTRY + 4 * program.len() as u64).to_string();
        assert!(!text.is_empty() && text.is_ascii(), "{word:08x}: {text}");
        program.push(word);
    }
    program.push(0x1400_0000);
    // mrs x0, elr_el1; add x0, x0, #4; msr elr_el1, x0; eret, or the same of EL2.
    let step_over = if has_el2 {
        [0xd53c_4020, 0x9100_1000, 0xd51c_4020, 0xd69f_03e0]
    } else {
        [0xd538_4020, 0x9100_1000, 0xd518_4020, 0xd69f_03e0]
    };
    program.resize(0x200 + 16 * 32, 0);
    for vector in 0..16 {
        program[0x200 + 32 * vector..][..4].copy_from_slice(&step_over);
    }
    let words: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
    board.bus.ram().write_bytes(ENTRY - RAM, &words).expect("inside RAM");
    let limits = Limits { steps: Some(STEPS), pause: None, timeout: None };
    let mut machine = Machine::new(board, Pa(ENTRY), VECTORS, Pace::Instructions, limits, Firmware::new(0));
    let outcome = machine.run();
    if let Outcome::Tool { error, .. } = &outcome {
        assert!(!error.to_string().is_empty());
    }
    for cpu in machine.diagnose(&symbols::Symbols::default()) {
        assert!(!cpu.to_string().is_empty());
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let of = |which: u8, words: &[u32]| {
        // The model, policy, semihosting, 30 registers, no vectors, the stack.
        let mut bytes = vec![which, 0, 0];
        bytes.extend((1..31).flat_map(|n| [1, n, 0x10]));
        bytes.extend([0, 0]);
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes
    };
    let programs: [&[u32]; 6] = [
        // ldr x1, [x2]; str x3, [x4], #8; ldxr x5, [x6]; stxr w7, x5, [x6]; ldp q0, q1, [x8]
        &[0xf940_0041, 0xf800_8483, 0xc85f_7cc5, 0xc807_7cc5, 0xad40_0500],
        // mrs x1, id_aa64mmfr0_el1; msr sctlr_el1, x1; tlbi vmalle1; dsb sy; isb; at s1e1r, x2
        &[0xd538_0701, 0xd518_1001, 0xd508_871f, 0xd503_3f9f, 0xd503_3fdf, 0xd508_7802],
        // fadd s0, s1, s2; fcvtzs x1, d0; aese v0.16b, v1.16b; tbl v0.16b, {v1.16b}, v2.16b
        &[0x1e22_2820, 0x9e78_0001, 0x4e28_4820, 0x4e02_0020],
        // svc #0; hvc #0; smc #0; brk #0; hlt #0xf000; wfi; wfe; eret
        &[0xd400_0001, 0xd400_0002, 0xd400_0003, 0xd420_0000, 0xd45e_0000, 0xd503_207f, 0xd503_205f, 0xd69f_03e0],
        // paciasp; autiasp; irg x0, x1; stg x0, [x1]; cpyfp [x0]!, [x1]!, x2!; setp [x3]!, x4!, x5
        &[0xd503_233f, 0xd503_23bf, 0x9adf_1020, 0xd920_0820, 0x1901_0440, 0x19c5_0483],
        // mrs x0, icc_iar1_el1; msr ich_hcr_el2, x1; msr hcr_el2, x2; msr cntv_tval_el0, x3; msr pmcr_el0, x4
        &[0xd538_cc00, 0xd51c_cb01, 0xd51c_1102, 0xd51b_e303, 0xd51b_9c04],
    ];
    programs.into_iter().flat_map(|words| (0..4).map(move |which| of(which, words))).collect()
}
