package vm

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// The minimum of kubeadm:
// https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/install-kubeadm
const (
	minVCPUs    = 2
	minMemoryGB = 2
)

// CheckSize checks that the size is available at the VM's place and large enough for a node. path is the parent of the
// fields.
func CheckSize(p Profile, path *field.Path) field.ErrorList {
	size, region := p.Size, p.Place.Region
	here := path.Child("vmSize")
	if size == nil {
		return field.ErrorList{field.Invalid(here, p.VMSize, plan.DescribeUnknownSize(region, p.NearestSizes))}
	}
	if size.RestrictionReason != "" {
		return field.ErrorList{field.Invalid(here, p.VMSize,
			fmt.Sprintf("the subscription cannot use this size in region %s (%s): choose another size or ask Azure for access", region,
				size.RestrictionReason))}
	}
	if size.VCPUs < minVCPUs || math.Round(size.MemoryGB) < minMemoryGB {
		return field.ErrorList{field.Invalid(here, p.VMSize,
			fmt.Sprintf("has %d vCPUs and %g GiB of memory, and a Kubernetes node needs at least %d and %d: choose a larger size", size.VCPUs,
				size.MemoryGB, minVCPUs, minMemoryGB))}
	}
	var errs field.ErrorList
	for _, zone := range p.Place.Zones {
		if !slices.Contains(p.Place.RegionZones, zone) || slices.Contains(size.Zones, zone) {
			continue
		}
		text := fmt.Sprintf("is not available in zone %s of region %s", zone, region)
		if len(size.Zones) == 0 {
			text += ", nor in any other zone: choose another size"
		} else {
			text += fmt.Sprintf(" but in %s: choose one of these zones or another size", strings.Join(size.Zones, ", "))
			if p.Exists {
				text += ". A scale set cannot leave a zone: to have VMs of this size without the zone, create another machine pool"
			}
		}
		errs = append(errs, field.Invalid(here, p.VMSize, text))
	}
	return errs
}

// CheckZones checks that the region has the zones. path is the field with the zones.
func CheckZones(place Place, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, zone := range place.Zones {
		switch {
		case place.ExtendedLocation != nil:
			errs = append(errs, field.Invalid(path, zone, "an edge zone has no availability zones: remove "+place.ZonesFrom))
		case len(place.RegionZones) == 0:
			errs = append(errs, field.Invalid(path, zone,
				fmt.Sprintf("region %s has no availability zones: remove %s", place.Region, place.ZonesFrom)))
		case !slices.Contains(place.RegionZones, zone):
			errs = append(errs, field.Invalid(path, zone,
				fmt.Sprintf("is not an availability zone of region %s: choose from %s", place.Region, strings.Join(place.RegionZones, ", "))))
		}
	}
	return errs
}

// CheckImage checks that an image is known.
func CheckImage(p Profile, path *field.Path) field.ErrorList {
	if _, err := SelectImage(p); err != nil {
		return field.ErrorList{field.Invalid(path.Child("image"), "", err.Error())}
	}
	return nil
}

// CheckCapabilities checks that the size supports the settings of the spec. CheckSize reports a size that the catalog does
// not list.
func CheckCapabilities(p Profile, path *field.Path) field.ErrorList {
	if p.Size == nil {
		return nil
	}
	errs := checkDisks(p, path)
	errs = append(errs, checkSecurity(p, path.Child("securityProfile"))...)
	errs = append(errs, checkInterfaces(p, path.Child("networkInterfaces"))...)
	return append(errs, checkSpot(p, path.Child("spotVMOptions"))...)
}

// UnsupportedNetwork returns an error for each network field of the spec that the plan would ignore.
func UnsupportedNetwork(spec infrav1.VirtualMachineProfile, path *field.Path) field.ErrorList {
	if len(spec.NetworkInterfaces) == 0 {
		return nil
	}
	var errs field.ErrorList
	text := "has no effect because " + path.Child("networkInterfaces").String() + " is set. Set it there"
	if spec.SubnetName != "" {
		errs = append(errs, field.Forbidden(path.Child("subnetName"), text))
	}
	if spec.AcceleratedNetworking != nil {
		errs = append(errs, field.Forbidden(path.Child("acceleratedNetworking"), text))
	}
	return errs
}

// UnsupportedOS refuses operating systems other than Linux and Windows.
func UnsupportedOS(spec infrav1.VirtualMachineProfile, path *field.Path) field.ErrorList {
	if spec.OSDisk.OSType == infrav1.LinuxOS || spec.OSDisk.OSType == infrav1.WindowsOS {
		return nil
	}
	return field.ErrorList{field.NotSupported(path.Child("osDisk", "osType"), spec.OSDisk.OSType,
		[]string{infrav1.LinuxOS, infrav1.WindowsOS})}
}
