# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=sh
#
# For the programs of this folder: the Python package in venvs, as facts.

# shellcheck source=tests/install/block.sh
. tests/install/block.sh
unset PYTHONPATH LD_LIBRARY_PATH VIRTUAL_ENV

# venv NAME PIP-ARGUMENT...: of $python, or of Debian's Python
venv()
{
	where=$folder/$1
	shift
	"${python:-/usr/bin/python3}" -m venv "$where" &&
		"$where/bin/pip" install --quiet --disable-pip-version-check \
			"$@"
}

# works PYTHON VERSION: the package, with a NumPy of that version
works()
{
	(cd / && "$1" - "$2") <<-'PYTHON'
	import sys, numpy, dray
	assert numpy.__version__.startswith(sys.argv[1] + "."), numpy.__version__
	assert dray.versions().match
	with dray.memory(dray.open("host").pool()):
	    array = numpy.arange(12).reshape(3, 4)
	    copy = numpy.zeros((2, 2), array.dtype)
	assert dray.handler_name(array) == "dray host"
	dray.copy(copy, array[1:, ::3])
	assert (copy == [[4, 7], [8, 11]]).all()
	# Each protocol, with its module.
	assert dray.from_dlpack(array).tolist() == array.tolist()
	assert dray.from_arrow(dray.to_arrow(array)).tolist() == array.tolist()
	assert dray.from_sycl(dray.to_sycl(array)).tolist() == array.tolist()
	try:
	    dray.xclbin_banks("/dev/null")
	except ValueError as error:
	    assert "not a regular file" in str(error)
	PYTHON
}

# libraries PYTHON [LIBRARY]: each libdray in a process that has loaded LIBRARY, then
# imported the package
libraries()
{
	(cd / && "$1" - "${2:-}") <<-'PYTHON'
	import ctypes, sys
	if sys.argv[1]:
	    ctypes.CDLL(sys.argv[1])
	import dray
	with open("/proc/self/maps") as maps:
	    print(*sorted({line.split()[-1] for line in maps
	                   if "libdray" in line}))
	PYTHON
}
