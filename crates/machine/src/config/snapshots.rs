//! The configuration in snapshots: what the machine is. What bounds a run is not part of it.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use snapshot::{Codec, Invalid, Persist, persist_fields, persist_names};

use super::{
    CpuConfig, Demo, Disk, DiskAccess, Engine, FeatureSetting, FirmwareConfig, GicSetting, MachineConfig, Presence,
    Share, TimeMode, VariableWrites, Variables,
};
use crate::topology::{Distance, Node, Shape, Topology};

persist_names!(DiskAccess { ReadWrite = 0, ReadOnly = 1 });
persist_names!(VariableWrites { Forgotten = 0, Kept = 1 });
persist_names!(Presence { Absent = 0, Present = 1 });
persist_names!(TimeMode { Insn = 0, Wall = 1 });
persist_names!(Engine { Interpreter = 0, Auto = 1 });

/// A path, whatever bytes it is of.
fn path(path: &mut PathBuf, codec: &mut Codec<'_>) -> Result<(), Invalid> {
    let mut bytes = path.as_os_str().as_bytes().to_vec();
    codec.value(&mut bytes)?;
    *path = OsString::from_vec(bytes).into();
    Ok(())
}

fn optional_path(value: &mut Option<PathBuf>, codec: &mut Codec<'_>) -> Result<(), Invalid> {
    let mut there = value.is_some();
    codec.value(&mut there)?;
    if codec.is_loading() {
        *value = there.then(PathBuf::new);
    }
    value.as_mut().map_or(Ok(()), |value| path(value, codec))
}

/// Settings as the user wrote them.
fn settings<T: std::str::FromStr<Err: std::fmt::Display>>(
    list: &mut Vec<T>,
    text: impl Fn(&T) -> &String,
    codec: &mut Codec<'_>,
) -> Result<(), Invalid> {
    let mut texts: Vec<String> = list.iter().map(|setting| text(setting).clone()).collect();
    codec.value(&mut texts)?;
    if codec.is_loading() {
        let parse = |text: &String| text.parse::<T>().map_err(|error| Invalid::new(error.to_string()));
        *list = texts.iter().map(parse).collect::<Result<_, _>>()?;
    }
    Ok(())
}

impl Persist for Disk {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { path: file, access } = self;
        path(file, codec)?;
        codec.value(access)
    }
}

impl Default for Disk {
    fn default() -> Self {
        Self { path: PathBuf::new(), access: DiskAccess::ReadOnly }
    }
}

impl Persist for Variables {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { path: file, writes } = self;
        path(file, codec)?;
        codec.value(writes)
    }
}

impl Persist for FirmwareConfig {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { code, variables } = self;
        path(code, codec)?;
        codec.value(variables)
    }
}

impl Persist for Share {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { path: directory, access, tag } = self;
        path(directory, codec)?;
        codec.each([access, tag])
    }
}

impl Default for Share {
    fn default() -> Self {
        Self { path: PathBuf::new(), access: DiskAccess::ReadOnly, tag: None }
    }
}

persist_fields!(Shape { sockets, clusters });
persist_fields!(Distance { between, is });

impl Persist for Node {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { cpus, memory } = self;
        let mut range = cpus.as_ref().map(|cpus| (*cpus.start(), *cpus.end()));
        codec.each([memory, &mut range])?;
        *cpus = range.map(|(first, last)| first..=last);
        Ok(())
    }
}

impl Persist for MachineConfig {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self {
            cpus,
            memory,
            cpu: CpuConfig { preset, features, gic },
            firmware,
            kernel,
            initrd,
            demo,
            append,
            dtb,
            disks,
            shares,
            topology: Topology { shape, nodes, distances },
            net,
            vsock,
            power_button: _,
            rng,
            time,
            engine,
            threads: _,
            seed,
            policy,
            max_insns: _,
            pause: _,
            timeout: _,
        } = self;
        codec.each([cpus, memory, preset, shape, nodes, distances])?;
        // One that has either is not saved.
        codec.same(&(net.is_some() || vsock.is_some()), "whether it has connections to the host")?;
        settings(features, |setting: &FeatureSetting| &setting.text, codec)?;
        settings(gic, |setting: &GicSetting| &setting.text, codec)?;
        for file in [kernel, initrd, dtb] {
            optional_path(file, codec)?;
        }
        // What it is has been loaded: only that there was one.
        let mut has_demo = demo.is_some();
        codec.value(&mut has_demo)?;
        if codec.is_loading() {
            *demo = has_demo.then_some(Demo { kernel: &[], initrd: &[] });
        }
        codec.each([firmware, append, disks, shares, rng, time, engine, seed, policy])
    }
}
