// Other files define them anew.
	.purgem	alternative_else
	.purgem	alternative_if
	.purgem	alternative_end
