"""The words of kexbench as types: pure values, no input or output, no neighbours."""
