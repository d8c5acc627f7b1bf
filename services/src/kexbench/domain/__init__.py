"""The terms of kexbench as types: pure values without input or output, independent of all other packages."""
