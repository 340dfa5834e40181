package compute

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

// marketImage is an image of the marketplace. The list has the aliases of the Azure CLI in its releases from 2.45 on
// (https://github.com/Azure/azure-rest-api-specs/blob/main/arm-compute/quickstart-templates/aliases.json), and the
// images that the book and Cluster API's image builder name. All versions of cncf-upstream images are listed. The
// others have made-up versions of the right form.
type marketImage struct {
	publisher, offer, sku string
	windows, gen1, plan   bool
	versions              []string
}

var (
	ubuntuVersions  = []string{"22.04.202405140", "22.04.202410020", "22.04.202501100"}
	windowsVersions = []string{"20348.2700.240905", "20348.2849.241102", "20348.3091.250112"}
	// Cluster API's images, by their release of Kubernetes and date. None came after July 2024: newer ones are in the community gallery.
	upstream = []string{
		"127.14.20240517", "127.15.20240612", "127.16.20240717", "128.1.20230829", "128.2.20230918", "128.3.20231023", "128.4.20231130",
		"128.5.20240102", "128.6.20240201", "128.7.20240223", "128.8.20240327", "128.9.20240418", "128.10.20240517", "128.11.20240612",
		"128.12.20240717", "129.1.20240206", "129.2.20240223", "129.3.20240327", "129.4.20240418", "129.5.20240517", "129.6.20240612",
		"129.7.20240717", "130.0.20240506", "130.1.20240517", "130.2.20240612", "130.3.20240717",
	}
	upstreamWindows = []string{
		"127.14.20240515", "128.1.20230830", "128.2.20230918", "128.3.20231023", "128.4.20231122", "128.5.20240102", "128.6.20240201",
		"128.7.20240223", "128.8.20240327", "128.9.20240418", "128.10.20240515", "128.11.20240612", "128.12.20240717", "129.1.20240201",
		"129.2.20240223", "129.3.20240327", "129.4.20240418", "129.5.20240515", "129.6.20240612", "129.7.20240717", "130.0.20240418",
		"130.1.20240515", "130.2.20240612", "130.3.20240717",
	}
	flatcarVersions = []string{"3975.2.2", "4081.2.0", "4152.2.1"}
	otherVersions   = []string{"1.0.20240717", "1.0.20241104", "1.0.20250110"}
)

var market = []marketImage{
	{publisher: "Canonical", offer: "UbuntuServer", sku: "18.04-LTS", gen1: true,
		versions: []string{"18.04.202305220", "18.04.202306070", "18.04.202401161"}},
	{publisher: "Canonical", offer: "0001-com-ubuntu-server-focal", sku: "20_04-lts-gen2",
		versions: []string{"20.04.202405140", "20.04.202410020", "20.04.202501100"}},
	{publisher: "Canonical", offer: "0001-com-ubuntu-server-jammy", sku: "22_04-lts", gen1: true, versions: ubuntuVersions},
	{publisher: "Canonical", offer: "0001-com-ubuntu-server-jammy", sku: "22_04-lts-gen2", versions: ubuntuVersions},
	{publisher: "Canonical", offer: "ubuntu-24_04-lts", sku: "server",
		versions: []string{"24.04.202409120", "24.04.202411030", "24.04.202501130"}},
	{publisher: "Canonical", offer: "ubuntu-24_04-lts", sku: "server-gen1", gen1: true,
		versions: []string{"24.04.202409120", "24.04.202411030", "24.04.202501130"}},
	{publisher: "Debian", offer: "debian-10", sku: "10", gen1: true, versions: otherVersions},
	{publisher: "Debian", offer: "debian-11", sku: "11-backports-gen2", versions: otherVersions},
	{publisher: "Debian", offer: "debian-12", sku: "12-gen2", versions: otherVersions},
	{publisher: "OpenLogic", offer: "CentOS", sku: "7.5", gen1: true, versions: otherVersions},
	{publisher: "OpenLogic", offer: "CentOS", sku: "8_5-gen2", versions: otherVersions},
	{publisher: "RedHat", offer: "RHEL", sku: "7-LVM", gen1: true, versions: otherVersions},
	{publisher: "RedHat", offer: "RHEL", sku: "8-lvm-gen2", versions: otherVersions},
	{publisher: "SUSE", offer: "opensuse-leap-15-3", sku: "gen2", versions: otherVersions},
	{publisher: "SUSE", offer: "openSUSE-leap-15-4", sku: "gen2", versions: otherVersions},
	{publisher: "SUSE", offer: "sles-15-sp3", sku: "gen2", versions: otherVersions},
	{publisher: "SUSE", offer: "sles-15-sp5", sku: "gen2", versions: otherVersions},
	{publisher: "kinvolk", offer: "flatcar-container-linux-free", sku: "stable", gen1: true, plan: true, versions: flatcarVersions},
	{publisher: "kinvolk", offer: "flatcar-container-linux-free", sku: "stable-gen2", plan: true, versions: flatcarVersions},
	{publisher: "kinvolk", offer: "flatcar-container-linux-corevm-amd64", sku: "stable-gen2", versions: flatcarVersions},
	{publisher: "cncf-upstream", offer: "capi", sku: "ubuntu-2204-gen1", gen1: true, versions: upstream},
	{publisher: "cncf-upstream", offer: "capi", sku: "ubuntu-2404-gen1", gen1: true, versions: upstream},
	{publisher: "cncf-upstream", offer: "capi-windows", sku: "windows-2019-containerd-gen1", windows: true, gen1: true,
		versions: upstreamWindows},
	{publisher: "cncf-upstream", offer: "capi-windows", sku: "windows-2022-containerd-gen1", windows: true, gen1: true,
		versions: upstreamWindows},
	{publisher: "MicrosoftWindowsServer", offer: "WindowsServer", sku: "2008-R2-SP1", windows: true, gen1: true, versions: windowsVersions},
	{publisher: "MicrosoftWindowsServer", offer: "WindowsServer", sku: "2012-Datacenter", windows: true, gen1: true,
		versions: windowsVersions},
	{publisher: "MicrosoftWindowsServer", offer: "WindowsServer", sku: "2012-R2-Datacenter", windows: true, gen1: true,
		versions: windowsVersions},
	{publisher: "MicrosoftWindowsServer", offer: "WindowsServer", sku: "2016-Datacenter", windows: true, gen1: true,
		versions: windowsVersions},
	{publisher: "MicrosoftWindowsServer", offer: "WindowsServer", sku: "2016-datacenter-gensecond", windows: true, versions: windowsVersions},
	{publisher: "MicrosoftWindowsServer", offer: "WindowsServer", sku: "2019-Datacenter", windows: true, gen1: true,
		versions: windowsVersions},
	{publisher: "MicrosoftWindowsServer", offer: "WindowsServer", sku: "2019-datacenter-gensecond", windows: true, versions: windowsVersions},
	{publisher: "MicrosoftWindowsServer", offer: "WindowsServer", sku: "2022-Datacenter", windows: true, gen1: true,
		versions: windowsVersions},
	{publisher: "MicrosoftWindowsServer", offer: "WindowsServer", sku: "2022-datacenter-g2", windows: true, versions: windowsVersions},
	{publisher: "MicrosoftWindowsServer", offer: "WindowsServer", sku: "2022-datacenter-azure-edition", windows: true,
		versions: windowsVersions},
	{publisher: "MicrosoftWindowsServer", offer: "WindowsServer", sku: "2022-datacenter-azure-edition-core", windows: true,
		versions: windowsVersions},
	{publisher: "MicrosoftWindowsServer", offer: "WindowsServer", sku: "2025-datacenter-g2", windows: true, versions: windowsVersions},
}

// marketExtension is an extension for virtual machines that publishers offer.
// Source: https://learn.microsoft.com/azure/virtual-machines/extensions/overview and the pages of each.
type marketExtension struct {
	publisher, name string
	windows         bool
	versions        []string
}

var extensionMarket = []marketExtension{
	{"Microsoft.Azure.ContainerUpstream", "CAPZ.Linux.Bootstrapping", false, []string{"1.0.0"}},
	{"Microsoft.Azure.ContainerUpstream", "CAPZ.Windows.Bootstrapping", true, []string{"1.0.0"}},
	{"Microsoft.Azure.Extensions", "CustomScript", false, []string{"2.0.7", "2.1.3", "2.1.10"}},
	{"Microsoft.Compute", "CustomScriptExtension", true, []string{"1.9.5", "1.10.15"}},
	{"Microsoft.Azure.Monitor", "AzureMonitorLinuxAgent", false, []string{"1.0.0", "1.33.0"}},
	{"Microsoft.Azure.Monitor", "AzureMonitorWindowsAgent", true, []string{"1.0.0", "1.31.0"}},
	{"Microsoft.Azure.KeyVault", "KeyVaultForLinux", false, []string{"2.2.0", "3.0.0"}},
	{"Microsoft.Azure.KeyVault", "KeyVaultForWindows", true, []string{"3.0.0"}},
	{"Microsoft.Azure.ActiveDirectory", "AADSSHLoginForLinux", false, []string{"1.0.2"}},
	{"Microsoft.ManagedServices", "ApplicationHealthLinux", false, []string{"1.0.3", "2.0.12"}},
	{"Microsoft.ManagedServices", "ApplicationHealthWindows", true, []string{"1.0.9", "2.0.10"}},
}

// inMarket returns the marketplace's image of an imageReference, nil for one that is not known here.
func inMarket(publisher, offer, sku string) *marketImage {
	for i, m := range market {
		if strings.EqualFold(m.publisher, publisher) && strings.EqualFold(m.offer, offer) && strings.EqualFold(m.sku, sku) {
			return &market[i]
		}
	}
	return nil
}

// hasVersion reports whether a version exists. For images with made-up versions every version of the publisher's form
// exists, because only the publisher knows the real ones.
func (m marketImage) hasVersion(version string, now time.Time) bool {
	if version == "latest" || slices.Contains(m.versions, version) {
		return true
	}
	for _, form := range versionForms {
		if !strings.EqualFold(form.publisher, m.publisher) {
			continue
		}
		parts := form.version.FindStringSubmatch(version)
		if parts == nil {
			return false
		}
		if form.date == "" {
			return true
		}
		built, err := time.Parse(form.date, parts[1])
		return err == nil && built.Before(now)
	}
	return true
}

// versionForms are the forms of the versions of publishers, with the date in them. Publishers that are not here have several forms.
// Sources: https://documentation.ubuntu.com/azure/azure-how-to/instances/find-ubuntu-images/,
// https://learn.microsoft.com/azure/virtual-machines/windows/cli-ps-findimage, https://www.flatcar.org/releases. That of cncf-upstream matches
// none: all of its versions are listed.
var versionForms = []struct {
	publisher string
	version   *regexp.Regexp
	date      string
}{
	{"Canonical", regexp.MustCompile(`^\d\d\.\d\d\.(\d{8})\d{0,2}$`), "20060102"},
	{"MicrosoftWindowsServer", regexp.MustCompile(`^\d{4,5}\.\d{1,5}\.(\d{6})\d{0,2}$`), "060102"},
	{"kinvolk", flatcarForm, ""},
	{"cncf-upstream", regexp.MustCompile(`^$`), ""},
}

var flatcarForm = regexp.MustCompile(`^[2-9]\d{3}\.\d\.\d{1,2}$`)

// bootImage returns the image as a machine boots from it.
func (m marketImage) bootImage() bootImage {
	img := bootImage{osType: "Linux", osState: "Generalized", generation: "V2", arch: "x64", security: []string{"TrustedLaunchSupported"}}
	if m.windows {
		img.osType = "Windows"
	}
	if m.gen1 {
		img.generation, img.security = "V1", []string{}
	}
	return img
}

// listMarketplace answers the marketplace: publishers/P/artifacttypes/vmimage/offers/O/skus/S/versions/V and
// publishers/P/artifacttypes/vmextension/types/T/versions/V. Lists are bare arrays, as on Azure.
func listMarketplace(c *provider.Call, location string, rest []string) (*provider.Reply, error) {
	at := func(i int) string {
		if i < len(rest) {
			return strings.ToLower(rest[i])
		}
		return ""
	}
	base := "/Subscriptions/" + c.ID.Subscription + "/Providers/Microsoft.Compute/Locations/" + location + "/Publishers"
	list := func(path string, names []string) (*provider.Reply, error) {
		slices.Sort(names)
		names = slices.Compact(names)
		if strings.EqualFold(c.Query.Get("$orderby"), "name desc") {
			slices.Reverse(names)
		}
		if n, err := strconv.Atoi(c.Query.Get("$top")); err == nil && n >= 0 && n < len(names) {
			names = names[:n]
		}
		out := []any{}
		for _, n := range names {
			out = append(out, body.Object{"name": n, "location": location, "id": base + path + "/" + n})
		}
		raw, err := json.Marshal(out)
		return provider.OK(json.RawMessage(raw)), err
	}
	if len(rest) == 0 {
		return list("", publisherNames())
	}
	path := "/" + rest[0] + "/ArtifactTypes/"
	notFound := provider.Errorf(404, "NotFound", "Artifact: VMImage was not found.")
	switch {
	case at(1) == "artifacttypes" && at(2) == "vmextension":
		return extensionImages(c, location, rest, base, list)
	case at(1) != "artifacttypes" || at(2) != "vmimage" || at(3) != "offers" || len(rest) > 5 && at(5) != "skus" || len(rest) > 7 &&
		at(7) != "versions" || len(rest) > 9:
		return nil, notFound
	}
	var offers, skus []string
	for _, m := range market {
		if !strings.EqualFold(m.publisher, rest[0]) {
			continue
		}
		offers = append(offers, m.offer)
		if strings.EqualFold(m.offer, at(4)) {
			skus = append(skus, m.sku)
		}
	}
	switch {
	case len(rest) == 4 && len(offers) > 0:
		return list(path+"VMImage/Offers", offers)
	case len(rest) == 6 && len(skus) > 0:
		return list(path+"VMImage/Offers/"+rest[4]+"/Skus", skus)
	}
	image := inMarket(rest[0], at(4), at(6))
	if len(rest) < 8 || image == nil {
		return nil, notFound
	}
	path += "VMImage/Offers/" + image.offer + "/Skus/" + image.sku + "/Versions"
	if len(rest) == 8 {
		return list(path, slices.Clone(image.versions))
	}
	version := rest[8]
	if version == "latest" {
		version = image.versions[len(image.versions)-1]
	}
	if !slices.Contains(image.versions, version) {
		return nil, notFound
	}
	return provider.OK(body.Object{"name": version, "location": location, "id": base + path + "/" + version,
		"properties": image.shownProperties()}), nil
}

// shownProperties returns the properties of a version of the image.
func (m marketImage) shownProperties() body.Object {
	boot := m.bootImage()
	features := []any{body.Object{"name": "IsAcceleratedNetworkSupported", "value": "True"}}
	for _, s := range boot.security {
		features = append(features, body.Object{"name": "SecurityType", "value": s})
	}
	out := body.Object{
		"osDiskImage": body.Object{"operatingSystem": boot.osType, "sizeInGb": 31}, "dataDiskImages": []any{},
		"hyperVGeneration": boot.generation, "architecture": boot.arch,
		"automaticOSUpgradeProperties": body.Object{"automaticOSUpgradeSupported": false},
		"imageDeprecationStatus":       body.Object{"imageState": "Active"}, "features": features,
	}
	if m.plan {
		out["plan"] = body.Object{"publisher": m.publisher, "product": m.offer, "name": m.sku}
	}
	return out
}

func publisherNames() []string {
	var out []string
	for _, m := range market {
		out = append(out, m.publisher)
	}
	for _, e := range extensionMarket {
		out = append(out, e.publisher)
	}
	return out
}

// extensionImages answers publishers/P/artifacttypes/vmextension/types/T/versions/V.
func extensionImages(c *provider.Call, location string, rest []string, base string,
	list func(path string, names []string) (*provider.Reply, error)) (*provider.Reply, error) {
	path := "/" + rest[0] + "/ArtifactTypes/VMExtension/Types"
	var types []string
	var found *marketExtension
	for i, e := range extensionMarket {
		if strings.EqualFold(e.publisher, rest[0]) {
			types = append(types, e.name)
			if len(rest) > 4 && strings.EqualFold(e.name, rest[4]) {
				found = &extensionMarket[i]
			}
		}
	}
	notFound := provider.Errorf(404, "NotFound", "Artifact: VMExtension was not found.")
	switch {
	case len(rest) < 4 || !strings.EqualFold(rest[3], "types") || len(types) == 0 || len(rest) > 7:
		return nil, notFound
	case len(rest) == 4:
		return list(path, types)
	case len(rest) < 6 || found == nil || !strings.EqualFold(rest[5], "versions"):
		return nil, notFound
	case len(rest) == 6:
		names := []string{}
		for _, v := range found.versions {
			// $filter is startswith(name,'2'), which is all that Azure takes here.
			if prefix := textBetween(c.Query.Get("$filter"), "'"); strings.HasPrefix(v, prefix) {
				names = append(names, v)
			}
		}
		return list(path+"/"+found.name+"/Versions", names)
	case !slices.Contains(found.versions, rest[6]):
		return nil, notFound
	}
	system := "Linux"
	if found.windows {
		system = "Windows"
	}
	return provider.OK(body.Object{"name": rest[6], "location": location, "id": base + path + "/" + found.name + "/Versions/" + rest[6],
		"properties": body.Object{
			"operatingSystem": system, "computeRole": "IaaS", "vmScaleSetEnabled": true, "supportsMultipleExtensions": false}}), nil
}

// textBetween returns the text between the first two marks, "" without them.
func textBetween(s, mark string) string {
	parts := strings.SplitN(s, mark, 3)
	if len(parts) < 3 {
		return ""
	}
	return parts[1]
}
