package compute

import (
	"strconv"
	"strings"
)

// buildSizes returns all sizes by lower-case name.
func buildSizes() map[string]Size {
	all := singleSizes()
	for _, s := range catalogue {
		all = append(all, s.listSizes()...)
	}
	out := map[string]Size{}
	for _, z := range all {
		if z.Arch == "" {
			z.Arch = "x64"
		}
		z.MaxNICs, z.MaxDisks = min(8, max(2, z.VCPUs/2)), min(64, max(4, z.VCPUs*2))
		out[strings.ToLower(z.Name)] = z
	}
	return out
}

// singleSizes returns the sizes whose names do not contain their number of processors, or whose line has a rule of
// its own: the first series, and sizes with accelerators, which are named after them.
//
// Source: https://learn.microsoft.com/azure/virtual-machines/sizes/overview
func singleSizes() []Size {
	var out []Size
	add := func(proto Size, name string, vcpus int, memory float64, change ...func(*Size)) {
		proto.Name, proto.VCPUs, proto.MemoryGB = "Standard_"+name, vcpus, memory
		for _, c := range change {
			c(&proto)
		}
		out = append(out, proto)
	}
	burst := Size{Family: "standardBSFamily", Premium: true, Ephemeral: true, Burstable: true}
	add(burst, "B1ls", 1, 0.5)
	add(burst, "B1s", 1, 1)
	add(burst, "B1ms", 1, 2)
	add(burst, "B2s", 2, 4)
	for _, vcpus := range []int{2, 4, 8, 12, 16, 20} {
		add(burst, "B"+strconv.Itoa(vcpus)+"ms", vcpus, 4*float64(vcpus))
	}
	add(Size{Family: "standardAv2Family"}, "A1_v2", 1, 2)
	for _, vcpus := range []int{2, 4, 8} {
		add(Size{Family: "standardAv2Family"}, "A"+strconv.Itoa(vcpus)+"_v2", vcpus, 2*float64(vcpus))
		add(Size{Family: "standardAv2Family"}, "A"+strconv.Itoa(vcpus)+"m_v2", vcpus, 8*float64(vcpus))
	}
	dsv2 := Size{Family: "standardDSv2Family", Premium: true, Ephemeral: true, Accelerated: true, HostEncrypt: true}
	for i, vcpus := range []int{1, 2, 4, 8, 16} {
		number := strconv.Itoa(i+1) + "_v2"
		add(dsv2, "DS"+number, vcpus, 3.5*float64(vcpus))
		add(Size{Family: "standardDv2Family", Ephemeral: true}, "D"+number, vcpus, 3.5*float64(vcpus),
			func(z *Size) { z.Accelerated = vcpus > 1 })
	}
	for i, vcpus := range []int{2, 4, 8, 16, 20} {
		number := strconv.Itoa(i+11) + "_v2"
		add(dsv2, "DS"+number, vcpus, 7*float64(vcpus))
		add(Size{Family: "standardDv2Family", Ephemeral: true, Accelerated: true}, "D"+number, vcpus, 7*float64(vcpus))
	}
	for _, m := range []struct {
		name   string
		vcpus  int
		memory float64
	}{{"M128ms", 128, 3892}, {"M208s_v2", 208, 2850}, {"M208ms_v2", 208, 5700}, {"M416s_v2", 416, 5700}, {"M416ms_v2", 416, 11400}} {
		add(Size{Family: "standardMSFamily", Premium: true, Ephemeral: true, Accelerated: true, Ultra: true}, m.name, m.vcpus, m.memory,
			func(z *Size) {
				if strings.HasSuffix(m.name, "_v2") {
					z.Family, z.Generation2 = "standardMSv2Family", true
				}
			})
	}
	gpu := Size{Premium: true, Ephemeral: true, Accelerated: true, HostEncrypt: true, Ultra: true, NoTrusted: true}
	for _, g := range []struct {
		family, name string
		vcpus        int
		memory       float64
		gpus         int
	}{
		{"standardNCSv3Family", "NC6s_v3", 6, 112, 1},
		{"standardNCSv3Family", "NC12s_v3", 12, 224, 2},
		{"standardNCSv3Family", "NC24s_v3", 24, 448, 4},
		{"standardNCSv3Family", "NC24rs_v3", 24, 448, 4},
		{"Standard NCASv3_T4 Family", "NC4as_T4_v3", 4, 28, 1},
		{"Standard NCASv3_T4 Family", "NC8as_T4_v3", 8, 56, 1},
		{"Standard NCASv3_T4 Family", "NC16as_T4_v3", 16, 110, 1},
		{"Standard NCASv3_T4 Family", "NC64as_T4_v3", 64, 440, 4},
		{"StandardNCADSA100v4Family", "NC24ads_A100_v4", 24, 220, 1},
		{"StandardNCADSA100v4Family", "NC48ads_A100_v4", 48, 440, 2},
		{"StandardNCADSA100v4Family", "NC96ads_A100_v4", 96, 880, 4},
		{"StandardNCadsH100v5Family", "NC40ads_H100_v5", 40, 320, 1},
		{"StandardNCadsH100v5Family", "NC80adis_H100_v5", 80, 640, 2},
		{"standardNDSv2Family", "ND40rs_v2", 40, 672, 8},
		{"standardNDASv4_A100Family", "ND96asr_v4", 96, 900, 8},
		{"standardNDAMSv4_A100Family", "ND96amsr_A100_v4", 96, 1900, 8},
		{"standardNDSH100v5Family", "ND96isr_H100_v5", 96, 1900, 8},
		{"standardNVSv3Family", "NV12s_v3", 12, 112, 1},
		{"standardNVSv3Family", "NV24s_v3", 24, 224, 2},
		{"standardNVSv3Family", "NV48s_v3", 48, 448, 4},
		{"standardNVSv4Family", "NV4as_v4", 4, 14, 1},
		{"standardNVSv4Family", "NV8as_v4", 8, 28, 1},
		{"standardNVSv4Family", "NV16as_v4", 16, 56, 1},
		{"standardNVSv4Family", "NV32as_v4", 32, 112, 1},
		{"StandardNVADSA10v5Family", "NV6ads_A10_v5", 6, 55, 1},
		{"StandardNVADSA10v5Family", "NV12ads_A10_v5", 12, 110, 1},
		{"StandardNVADSA10v5Family", "NV18ads_A10_v5", 18, 220, 1},
		{"StandardNVADSA10v5Family", "NV36ads_A10_v5", 36, 440, 1},
		{"StandardNVADSA10v5Family", "NV36adms_A10_v5", 36, 880, 1},
		{"StandardNVADSA10v5Family", "NV72ads_A10_v5", 72, 880, 2},
	} {
		add(gpu, g.name, g.vcpus, g.memory, func(z *Size) { z.Family, z.GPUs = g.family, g.gpus })
	}
	return out
}
