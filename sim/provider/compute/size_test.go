package compute

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestSizes checks sizes that users and templates of other providers use, with the figures of Azure's documentation.
func TestSizes(t *testing.T) {
	for name, want := range map[string]Size{
		// Sizes that templates of the established provider use.
		"Standard_B2s_v2": {Family: "standardBsv2Family", VCPUs: 2, MemoryGB: 8, Premium: true, Accelerated: true, HostEncrypt: true,
			Burstable: true},
		"Standard_NV12s_v3": {Family: "standardNVSv3Family", VCPUs: 12, MemoryGB: 112, GPUs: 1, Premium: true, Ephemeral: true,
			Accelerated: true, HostEncrypt: true, Ultra: true, NoTrusted: true},
		"Standard_D2s_v3": {Family: "standardDSv3Family", VCPUs: 2, MemoryGB: 8, Premium: true, Ephemeral: true, Accelerated: true,
			HostEncrypt: true, Ultra: true},
		"Standard_B2s": {Family: "standardBSFamily", VCPUs: 2, MemoryGB: 4, Premium: true, Ephemeral: true, Burstable: true},
		"Standard_DS3_v2": {Family: "standardDSv2Family", VCPUs: 4, MemoryGB: 14, Premium: true, Ephemeral: true, Accelerated: true,
			HostEncrypt: true},
		"Standard_DC4as_v5": {Family: "standardDCASv5Family", VCPUs: 4, MemoryGB: 16, Premium: true, Accelerated: true,
			Confidential: "SNP"},
		"Standard_B2ts_v2": {Family: "standardBsv2Family", VCPUs: 2, MemoryGB: 1, Premium: true, Accelerated: true, HostEncrypt: true,
			Burstable: true},
		"Standard_B4pls_v2": {Family: "standardBpsv2Family", VCPUs: 4, MemoryGB: 8, Arch: "Arm64", Premium: true, Accelerated: true,
			HostEncrypt: true, Burstable: true, NoTrusted: true},
		"Standard_D4_v5": {Family: "standardDv5Family", VCPUs: 4, MemoryGB: 16, Accelerated: true, HostEncrypt: true},
		"Standard_D8lds_v5": {Family: "standardDLDSv5Family", VCPUs: 8, MemoryGB: 16, Premium: true, Ephemeral: true, Accelerated: true,
			HostEncrypt: true, Ultra: true},
		"Standard_D16ds_v6": {Family: "standardDdsv6Family", VCPUs: 16, MemoryGB: 64, Premium: true, Ephemeral: true, Accelerated: true,
			HostEncrypt: true, Ultra: true, Generation2: true},
		"Standard_E64s_v3": {Family: "standardESv3Family", VCPUs: 64, MemoryGB: 432, Premium: true, Ephemeral: true, Accelerated: true,
			HostEncrypt: true, Ultra: true},
		"Standard_E4pds_v6": {Family: "standardEpdsv6Family", VCPUs: 4, MemoryGB: 32, Arch: "Arm64", Premium: true, Ephemeral: true,
			Accelerated: true, HostEncrypt: true, Ultra: true, NoTrusted: true, Generation2: true},
		"Standard_EC8es_v5": {Family: "standardECESv5Family", VCPUs: 8, MemoryGB: 64, Premium: true, Accelerated: true,
			Confidential: "TDX"},
		"Standard_DC2s_v3": {Family: "standardDCSv3Family", VCPUs: 2, MemoryGB: 16, Premium: true, Accelerated: true, HostEncrypt: true,
			Ultra: true},
		"Standard_F72s_v2": {Family: "standardFSv2Family", VCPUs: 72, MemoryGB: 144, Premium: true, Ephemeral: true, Accelerated: true,
			HostEncrypt: true, Ultra: true},
		"Standard_F4ams_v6": {Family: "standardFamsv6Family", VCPUs: 4, MemoryGB: 32, Premium: true, Accelerated: true, HostEncrypt: true,
			Generation2: true},
		"Standard_FX12mds": {Family: "standardFXMDSFamily", VCPUs: 12, MemoryGB: 252, Premium: true, Ephemeral: true, Accelerated: true,
			HostEncrypt: true, Ultra: true},
		"Standard_L8s_v3": {Family: "standardLSv3Family", VCPUs: 8, MemoryGB: 64, Premium: true, Ephemeral: true, Accelerated: true,
			HostEncrypt: true, Ultra: true},
		"Standard_M32ls": {Family: "standardMSFamily", VCPUs: 32, MemoryGB: 256, Premium: true, Ephemeral: true, Accelerated: true,
			HostEncrypt: true, Ultra: true},
		"Standard_M64ms": {Family: "standardMSFamily", VCPUs: 64, MemoryGB: 1792, Premium: true, Ephemeral: true, Accelerated: true,
			HostEncrypt: true, Ultra: true},
		"Standard_A4m_v2": {Family: "standardAv2Family", VCPUs: 4, MemoryGB: 32},
		"Standard_NC96ads_A100_v4": {Family: "StandardNCADSA100v4Family", VCPUs: 96, MemoryGB: 880, GPUs: 4, Premium: true, Ephemeral: true,
			Accelerated: true, HostEncrypt: true, Ultra: true, NoTrusted: true},
		"Standard_HB120rs_v3": {Family: "standardHBRSv3Family", VCPUs: 120, MemoryGB: 448, Premium: true, Ephemeral: true, Accelerated: true,
			HostEncrypt: true, Ultra: true},
	} {
		got, ok := FindSize(name)
		if !ok {
			t.Errorf("there is no size %s", name)
			continue
		}
		if want.Name = name; want.Arch == "" {
			want.Arch = "x64"
		}
		want.MaxNICs, want.MaxDisks = got.MaxNICs, got.MaxDisks
		if !reflect.DeepEqual(got, want) {
			t.Errorf("size\n%+v, want\n%+v", got, want)
		}
	}
	for _, name := range []string{"Standard_X1", "Standard_D2s_v99", "Standard_NC6", "Standard_D", "Basic_A1"} {
		if _, ok := FindSize(name); ok {
			t.Errorf("there is a size %s", name)
		}
	}
}

// TestSeriesAreApart fails when two lines of the catalogue make the same size: one of them would have no effect.
func TestSeriesAreApart(t *testing.T) {
	form := regexp.MustCompile(`^Standard_[A-Z]+[0-9]+[a-z]*(_[A-Z][A-Za-z0-9]*)?(_v[2-9])?$`)
	seen := map[string]bool{}
	all := singleSizes()
	for _, s := range catalogue {
		all = append(all, s.listSizes()...)
	}
	for _, z := range all {
		switch {
		case seen[strings.ToLower(z.Name)]:
			t.Errorf("%s is made twice", z.Name)
		case !form.MatchString(z.Name) || z.VCPUs < 1 || z.MemoryGB <= 0 || z.Family == "":
			t.Errorf("not a size of Azure's: %+v", z)
		}
		seen[strings.ToLower(z.Name)] = true
	}
	for _, letter := range []string{"A", "B", "D", "DC", "E", "EC", "F", "HB", "L", "M", "NC", "ND", "NV"} {
		found := false
		for name := range seen {
			found = found || regexp.MustCompile(`^standard_`+strings.ToLower(letter)+`[0-9]`).MatchString(name)
		}
		if !found {
			t.Errorf("no size of the family %s", letter)
		}
	}
}
