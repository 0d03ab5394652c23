# Before the first instruction: MMU off, nothing runs.
set pagination off
set confirm off
set width 0
# What the kernel changes under GDB's eyes is read anew.
set code-cache off
set stack-cache off
printf "= midr %lx\n", $MIDR_EL1
set $entry = $pc

# A breakpoint at a virtual address that no table maps yet.
tbreak *start_kernel
continue
printf "= start_kernel %lx\n", $pc - (unsigned long)&start_kernel
printf "= at start_kernel\n"
backtrace

# The last word of the first thread's stack, which is 16 KiB.
set $magic = (unsigned long *)((unsigned long)$sp & ~0x3ffful)
watch *$magic
continue
printf "= at magic\n"
backtrace
delete

# _printk("Booting Linux on physical CPU ...", MPIDR, MIDR).
tbreak *_printk
continue
printf "= printk %lx %lx\n", $x1 & 0xffffff, $x2
stepi
set $one = $pc - (unsigned long)&_printk
stepi
set $two = $pc - (unsigned long)&_printk
stepi
printf "= steps %lx %lx %lx\n", $one, $two, $pc - (unsigned long)&_printk
printf "= at printk\n"
backtrace
finish

# _printk("%s", linux_banner).
tbreak *_printk
continue
set print elements 0
x/s $x1

# Registers are written, and written back.
set $saved = $TPIDR_EL0
set $saved_x9 = $x9
set $saved_cpsr = $cpsr & 0xffffffff
set $TPIDR_EL0 = 0x1234
set $x9 = 0x5678
set $cpsr = $saved_cpsr | 0x40000000
flushregs
printf "= written %lx %lx %d\n", $TPIDR_EL0, $x9, ($cpsr >> 30) & 1
set $TPIDR_EL0 = $saved
set $x9 = $saved_x9
set $cpsr = $saved_cpsr

# The image begins 2 MiB aligned, where the run began.
printf "= virtual %lx\n", *(unsigned long *)&start_kernel
maintenance packet Qqemu.PhyMemMode:1
printf "= physical %lx\n", *(unsigned long *)((unsigned long)&start_kernel - ((unsigned long)&_stext & ~0x1ffffful) + $entry)
maintenance packet Qqemu.PhyMemMode:0

# CPU 1 comes.
tbreak secondary_start_kernel
continue
printf "= second %d\n", $_thread
info threads

tbreak *run_init_process
continue
printf "= at init\n"
backtrace
printf "= init %s\n", (char *)$x0
printf "= end \n"
detach
