// Instructions for CPUs of a capability in place of others, which are there before it is known: see `patch`.
	.macro	alternative_else
661:
	.endm
	.macro	alternative_if capability
662:
	.pushsection .alternatives, "a"
	.balign	8
	.8byte	661b, 663f
	.4byte	\capability
	.2byte	662b - 661b, 664f - 663f
	.popsection
	.pushsection .alternative_code, "a"
663:
	.endm
	.macro	alternative_end
664:
	.popsection
	.endm
