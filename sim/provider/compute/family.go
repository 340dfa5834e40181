package compute

import (
	"fmt"
	"strconv"
	"strings"
)

// series is a line of Azure's size documentation: sizes of one letter and version that differ in the number of
// processors and in the letters after it, which stand for capabilities.
//
// Source: https://learn.microsoft.com/azure/virtual-machines/vm-naming-conventions
type series struct {
	letters string
	version int
	// memory is the memory per processor in GiB; sizes with an l have half, those with an m double.
	memory float64
	// features are those letters, one word for each kind of size.
	features string
	vcpus    []int
	// memoryOf has the exceptions: numbers of processors with less memory than by the rule.
	memoryOf map[int]float64
}

// Most lines stop at one of these numbers of processors.
var (
	upTo64  = []int{2, 4, 8, 16, 32, 48, 64}
	upTo96  = []int{2, 4, 8, 16, 32, 48, 64, 96}
	upTo128 = []int{2, 4, 8, 16, 32, 48, 64, 96, 128}
	eUpTo32 = []int{2, 4, 8, 16, 20, 32}
	eUpTo64 = []int{2, 4, 8, 16, 20, 32, 48, 64}
	eUpTo96 = []int{2, 4, 8, 16, 20, 32, 48, 64, 96}
)

// catalogue has the figures of Azure's size documentation. Series that are retired are left out.
// Source: https://learn.microsoft.com/azure/virtual-machines/sizes/overview
var catalogue = []series{
	{"B", 2, 4, "s as ps", []int{2, 4, 8, 16}, nil},
	{"B", 2, 4, "s as", []int{32}, nil},
	{"B", 2, 4, "ls als pls", []int{2, 4, 8, 16}, nil},
	{"B", 2, 4, "ls als", []int{32}, nil},
	{"B", 2, 0.5, "ts ats pts", []int{2}, nil},
	{"D", 3, 4, "_ s", upTo64, nil},
	{"D", 4, 4, "_ s d ds", upTo64, nil},
	{"D", 4, 4, "a as", upTo96, nil},
	{"D", 5, 4, "_ s d ds ls lds as ads", upTo96, nil},
	{"D", 5, 4, "ps pds pls plds", upTo64, nil},
	{"D", 6, 4, "s ds ls lds", upTo128, nil},
	{"D", 6, 4, "as ads als alds ps pds pls plds", upTo96, nil},
	{"DC", 2, 4, "s", []int{1, 2, 4}, nil},
	{"DC", 2, 4, "_", []int{8}, nil},
	{"DC", 3, 8, "s ds", []int{1, 2, 4, 8, 16, 24, 32, 48}, nil},
	{"DC", 5, 4, "as ads es eds", upTo96, nil},
	{"E", 3, 8, "_ s", eUpTo64, map[int]float64{64: 432}},
	{"E", 4, 8, "_ s d ds", eUpTo64, map[int]float64{64: 504}},
	{"E", 4, 8, "a as", eUpTo96, map[int]float64{96: 672}},
	{"E", 5, 8, "_ s d ds as ads", eUpTo96, map[int]float64{96: 672}},
	{"E", 5, 8, "bs bds", upTo96, map[int]float64{96: 672}},
	{"E", 5, 8, "ps pds", eUpTo32, map[int]float64{32: 208}},
	{"E", 6, 8, "s ds", append(eUpTo96[:9:9], 128), nil},
	{"E", 6, 8, "as ads", eUpTo96, map[int]float64{96: 672}},
	{"E", 6, 8, "ps pds", upTo96, map[int]float64{96: 672}},
	{"EC", 5, 8, "as ads", eUpTo96, map[int]float64{96: 672}},
	{"EC", 5, 8, "es eds", eUpTo64, nil},
	{"F", 1, 2, "_ s", []int{1, 2, 4, 8, 16}, nil},
	{"F", 2, 2, "s", []int{2, 4, 8, 16, 32, 48, 64, 72}, nil},
	{"F", 6, 4, "as als ams", upTo64, nil},
	{"FX", 1, 10.5, "mds", []int{4, 12, 24, 36, 48}, nil},
	{"L", 2, 8, "s", []int{8, 16, 32, 48, 64, 80}, nil},
	{"L", 3, 8, "s as", []int{8, 16, 32, 48, 64, 80}, nil},
	{"M", 1, 16, "s", []int{64, 128}, nil},
	{"M", 1, 13.671875, "ms", []int{8, 16, 32}, nil},
	{"M", 1, 14, "ms", []int{64}, nil},
	{"M", 1, 6, "ts", []int{32}, nil},
	{"M", 1, 16, "ls", []int{32, 64}, nil},
	{"M", 2, 16, "s ds", []int{64, 128}, nil},
	{"M", 2, 14, "ms dms", []int{32, 64}, map[int]float64{32: 875}},
	{"NP", 1, 16.8, "s", []int{10, 20, 40}, nil},
	{"HB", 2, 3.8, "rs", []int{120}, nil},
	{"HB", 3, 448. / 120, "rs", []int{120}, nil},
	{"HB", 4, 768. / 176, "rs", []int{176}, nil},
	{"HC", 1, 8, "rs", []int{44}, nil},
}

// listSizes returns the sizes of the series, without the properties that the name does not contain.
func (s series) listSizes() []Size {
	var out []Size
	for _, features := range strings.Fields(s.features) {
		features = strings.Trim(features, "_")
		for _, vcpus := range s.vcpus {
			out = append(out, s.newSize(features, vcpus))
		}
	}
	return out
}

func (s series) newSize(features string, vcpus int) Size {
	has := func(letter string) bool { return strings.Contains(features, letter) }
	premium, confidential := has("s"), s.confidentialKind(features)
	z := Size{
		Name: "Standard_" + s.letters + strconv.Itoa(vcpus) + features, Family: s.quotaFamily(features), VCPUs: vcpus,
		MemoryGB:  s.memory * float64(vcpus),
		Burstable: s.letters == "B",
		Premium:   premium,
		// Later series have a local disk only with a d. Source: https://learn.microsoft.com/azure/virtual-machines/azure-vms-no-temp-disk
		Ephemeral:    premium && (has("d") || s.version <= 3 && s.letters != "B" && (s.letters != "DC" || s.version < 3)),
		Accelerated:  s.version >= 2 || s.letters != "F" || vcpus > 1,
		HostEncrypt:  (premium || s.version >= 4) && confidential == "",
		Ultra:        premium && confidential == "" && s.letters != "B" && s.letters != "F" || s.letters+strconv.Itoa(s.version) == "F2",
		Confidential: confidential,
		NoTrusted:    has("p") || s.version == 3 && !premium,
		// Source: https://learn.microsoft.com/azure/virtual-machines/generation-2
		Generation2: s.version >= 6,
	}
	switch {
	case s.memoryOf[vcpus] != 0:
		z.MemoryGB = s.memoryOf[vcpus]
	case has("l"):
		z.MemoryGB /= 2
	case has("m"):
		z.MemoryGB *= 2
	}
	if s.version > 1 {
		z.Name += fmt.Sprintf("_v%d", s.version)
	}
	if has("p") {
		z.Arch = "Arm64"
	}
	return z
}

// confidentialKind returns the technique of confidential virtual machines: that of AMD or of Intel. Earlier series of these letters have
// enclaves instead. Source: https://learn.microsoft.com/azure/confidential-computing/virtual-machine-options
func (s series) confidentialKind(features string) string {
	switch {
	case s.letters != "DC" && s.letters != "EC" || s.version < 5:
		return ""
	case strings.HasPrefix(features, "e"):
		return "TDX"
	}
	return "SNP"
}

// quotaFamily returns the name of the family that quotas count.
// Source: https://learn.microsoft.com/rest/api/compute/usage/list
func (s series) quotaFamily(features string) string {
	if s.letters == "B" || s.letters == "M" {
		features = strings.NewReplacer("l", "", "m", "", "t", "").Replace(features) // one family for all amounts of memory
	}
	version := ""
	if s.version > 1 {
		version = fmt.Sprintf("v%d", s.version)
	}
	if s.version >= 6 || s.letters == "B" {
		return "standard" + s.letters + features + version + "Family"
	}
	return "standard" + s.letters + strings.ToUpper(features) + version + "Family"
}
