// Allocation tags of a page by the linear map: 256 granules of 16 bytes. By their encodings, since the compiler's target
// has no FEAT_MTE.

	.text
	.globl	page_tags_clear
// x0: page.
page_tags_clear:
	mov	x1, #128
	mov	x2, #0			// the tag, in bits 59:56
1:	.inst	0xd9a02402		// st2g x2, [x0], #32
	subs	x1, x1, #1
	b.ne	1b
	ret

	.globl	page_tags_copy
// x0: to, x1: from.
page_tags_copy:
	mov	x2, #256
1:	.inst	0xd9600024		// ldg x4, [x1]
	add	x1, x1, #16
	.inst	0xd9201404		// stg x4, [x0], #16
	subs	x2, x2, #1
	b.ne	1b
	ret
