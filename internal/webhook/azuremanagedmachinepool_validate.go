package webhook

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

const (
	// aksPrefix is the prefix of node labels that AKS reserves.
	aksPrefix = "kubernetes.azure.com"
)

var (
	prefixIDPattern = regexp.MustCompile(`(?i)^/?subscriptions/[0-9A-F]{8}-([0-9A-F]{4}-){3}[0-9A-F]{12}/resourcegroups/[^/]+/providers/microsoft\.network/publicipprefixes/[^/]+$`)
	subnetPattern   = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,78}[a-zA-Z0-9]$`)
	periodPattern   = regexp.MustCompile(`ms$`)

	unsafeSysctls = []*regexp.Regexp{
		regexp.MustCompile(`^kernel\.shm.+$`), regexp.MustCompile(`^kernel\.msg.+$`), regexp.MustCompile(`^kernel\.sem$`),
		regexp.MustCompile(`^fs\.mqueue\..+$`), regexp.MustCompile(`^net\..+$`),
	}
)

// anyVersion means that the version of AKS's API is not known.
const anyVersion = ""

// ValidateAzureManagedMachinePool checks a defaulted AzureManagedMachinePool. version is the version of AKS's API that is used for
// the pool's cluster, or anyVersion.
func ValidateAzureManagedMachinePool(p *infrav1.AzureManagedMachinePool, version string) field.ErrorList {
	return validatePoolClass(&p.Spec.AzureManagedMachinePoolClassSpec, version, field.NewPath("spec"))
}

// ValidateAzureManagedMachinePoolTemplate checks a defaulted AzureManagedMachinePoolTemplate. The version of AKS's API is not
// known, so patches that are valid in any version pass.
func ValidateAzureManagedMachinePoolTemplate(t *infrav1.AzureManagedMachinePoolTemplate) field.ErrorList {
	return validatePoolClass(&t.Spec.Template.Spec.AzureManagedMachinePoolClassSpec, anyVersion, field.NewPath("spec", "template", "spec"))
}

func validatePoolClass(spec *infrav1.AzureManagedMachinePoolClassSpec, version string, path *field.Path) (errs field.ErrorList) {
	errs = append(errs, validatePoolName(spec, path.Child("name"))...)
	if spec.MaxPods != nil && (*spec.MaxPods < 10 || *spec.MaxPods > 250) {
		errs = append(errs, field.Invalid(path.Child("maxPods"), *spec.MaxPods, "must be between 10 and 250"))
	}
	system := spec.Mode == infrav1.NodePoolModeSystem
	if system && aks.IsWindows(spec) {
		errs = append(errs, field.Invalid(path.Child("osType"), *spec.OSType, "mode System needs Linux"))
	}
	if system && spec.ScaleSetPriority != nil && *spec.ScaleSetPriority == "Spot" {
		errs = append(errs, field.Invalid(path.Child("scaleSetPriority"), *spec.ScaleSetPriority, "needs mode: User"))
	}
	for key := range spec.NodeLabels {
		if strings.HasPrefix(key, aksPrefix) {
			errs = append(errs, field.Invalid(path.Child("nodeLabels").Key(key), key, "must not begin with "+aksPrefix+", which is for AKS"))
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	errs = append(errs, validateScaling(spec.Scaling, system, path.Child("scaling"))...)
	if price := spec.SpotMaxPrice; price != nil && price.Sign() <= 0 && price.String() != "-1" {
		errs = append(errs, field.Invalid(path.Child("spotMaxPrice"), price.String(),
			"must be above 0, or -1 for the price of a regular machine"))
	}
	errs = append(errs, validatePublicIPPrefix(spec, path.Child("nodePublicIPPrefixID"))...)
	errs = append(errs, validateKubeletConfig(spec.KubeletConfig, path.Child("kubeletConfig"))...)
	errs = append(errs, validateLinuxOSConfig(spec, path.Child("linuxOSConfig"))...)
	if name := spec.SubnetName; name != nil && !subnetPattern.MatchString(*name) {
		errs = append(errs, field.Invalid(path.Child("subnetName"), *name,
			"must be 2 to 80 letters, digits, '-', '_' and '.', and begin and end with a letter or digit"))
	}
	return append(errs, validatePoolPatches(spec.ASOManagedClustersAgentPoolPatches, version,
		path.Child("asoManagedClustersAgentPoolPatches"))...)
}

// validatePoolPatches checks the patches against the given version. If that is anyVersion and they are valid in no version, it
// returns the errors of the version that they name, or else of the newest preview.
func validatePoolPatches(patches []string, version string, path *field.Path) field.ErrorList {
	if version != anyVersion {
		return aso.CheckPatches(aso.AgentPool, version, patches, path)
	}
	errs := aso.CheckPatches(aso.AgentPool, aso.APIVersionOf(patches, true), patches, path)
	for _, version := range armschema.ListVersions() {
		if len(errs) > 0 && len(aso.CheckPatches(aso.AgentPool, version, patches, path)) == 0 {
			return nil
		}
	}
	return errs
}

// validatePoolName checks the name of the pool in Azure. It may be missing in a template.
func validatePoolName(spec *infrav1.AzureManagedMachinePoolClassSpec, path *field.Path) field.ErrorList {
	if spec.Name == nil || aks.IsPoolName(*spec.Name, spec) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *spec.Name,
		fmt.Sprintf("must start with a lower-case letter and contain only lower-case letters and digits, at most %d characters. It defaults to metadata.name; set spec.name if that name is not valid", aks.MaxPoolName(spec)))}
}

// validateScaling checks the limits of the autoscaler:
// https://learn.microsoft.com/en-us/azure/aks/cluster-autoscaler-overview
func validateScaling(scaling *infrav1.ManagedMachinePoolScaling, system bool, path *field.Path) (errs field.ErrorList) {
	if scaling == nil {
		return nil
	}
	least := 0
	if system {
		least = 1
	}
	if scaling.MinSize != nil && (*scaling.MinSize < least || *scaling.MinSize > 1000) {
		errs = append(errs, field.Invalid(path.Child("minSize"), *scaling.MinSize,
			fmt.Sprintf("must be between %d and 1000 in this mode", least)))
	}
	if scaling.MaxSize != nil && (*scaling.MaxSize < 1 || *scaling.MaxSize > 1000) {
		errs = append(errs, field.Invalid(path.Child("maxSize"), *scaling.MaxSize, "must be between 1 and 1000"))
	}
	if scaling.MinSize != nil && scaling.MaxSize != nil && *scaling.MinSize > *scaling.MaxSize {
		errs = append(errs, field.Invalid(path.Child("minSize"), *scaling.MinSize,
			fmt.Sprintf("must not be above maxSize, %d", *scaling.MaxSize)))
	}
	return errs
}

func validatePublicIPPrefix(spec *infrav1.AzureManagedMachinePoolClassSpec, path *field.Path) (errs field.ErrorList) {
	id := spec.NodePublicIPPrefixID
	if id == nil {
		return nil
	}
	if !prefixIDPattern.MatchString(*id) {
		errs = append(errs, field.Invalid(path, *id,
			"must be the Azure resource ID of a public IP prefix: /subscriptions/<GUID>/resourceGroups/…/providers/Microsoft.Network/publicIPPrefixes/…"))
	}
	if !isTrue(spec.EnableNodePublicIP) {
		errs = append(errs, field.Forbidden(path, "needs enableNodePublicIP: true"))
	}
	return errs
}

func validateKubeletConfig(config *infrav1.KubeletConfig, path *field.Path) (errs field.ErrorList) {
	if config == nil {
		return nil
	}
	if period := config.CPUCfsQuotaPeriod; period != nil && !periodPattern.MatchString(*period) {
		errs = append(errs, field.Invalid(path.Child("cpuCfsQuotaPeriod"), *period, `must be in milliseconds, for example "100ms"`))
	}
	if low, high := config.ImageGcLowThreshold, config.ImageGcHighThreshold; low != nil && high != nil && *low > *high {
		errs = append(errs, field.Invalid(path.Child("imageGcLowThreshold"), *low,
			fmt.Sprintf("must not be above imageGcHighThreshold, %d", *high)))
	}
	for i, sysctl := range config.AllowedUnsafeSysctls {
		if !slices.ContainsFunc(unsafeSysctls, func(p *regexp.Regexp) bool { return p.MatchString(sysctl) }) {
			errs = append(errs, field.Invalid(path.Child("allowedUnsafeSysctls").Index(i), sysctl,
				"must begin with kernel.shm, kernel.msg, fs.mqueue. or net., or be kernel.sem"))
		}
	}
	return errs
}

func validateLinuxOSConfig(spec *infrav1.AzureManagedMachinePoolClassSpec, path *field.Path) (errs field.ErrorList) {
	config, kubelet := spec.LinuxOSConfig, spec.KubeletConfig
	if config == nil {
		return nil
	}
	if config.SwapFileSizeMB != nil && (kubelet == nil || kubelet.FailSwapOn == nil || *kubelet.FailSwapOn) {
		errs = append(errs, field.Forbidden(path.Child("swapFileSizeMB"), "needs kubeletConfig.failSwapOn: false, or the kubelet does not start"))
	}
	if config.Sysctls != nil && config.Sysctls.NetIPv4IPLocalPortRange != nil && !isPortRange(*config.Sysctls.NetIPv4IPLocalPortRange) {
		errs = append(errs, field.Invalid(path.Child("sysctls", "netIpv4IPLocalPortRange"), *config.Sysctls.NetIPv4IPLocalPortRange,
			`must be the first port, 1024 to 60999, a space and the last port, 32768 to 65000, and not below the first: "32768 60999"`))
	}
	return errs
}

func isPortRange(s string) bool {
	ports := strings.Fields(s)
	if len(ports) != 2 {
		return false
	}
	first, errFirst := strconv.Atoi(ports[0])
	last, errLast := strconv.Atoi(ports[1])
	return errFirst == nil && errLast == nil && first >= 1024 && first <= 60999 && last >= 32768 && last <= 65000 && first <= last
}
