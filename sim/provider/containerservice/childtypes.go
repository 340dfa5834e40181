package containerservice

import (
	"net/netip"
	"regexp"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

var clockTime = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)

// maintenanceType returns the type of maintenance windows, of which there are three.
// Source: https://learn.microsoft.com/azure/aks/planned-maintenance
func maintenanceType() *provider.Type {
	return &provider.Type{
		Name: ManagedClusters + "/maintenanceConfigurations", APIVersions: apiVersions, Style: provider.Sync, Untracked: true,
		AcceptedStatus: 200,
		Create:         provider.Timing{HTTP: provider.Seconds(0.44)}, Delete: provider.Timing{HTTP: provider.Seconds(0.44)},
		NameRule: func(name string) *provider.Error {
			for _, ok := range []string{"default", "aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule"} {
				if strings.EqualFold(name, ok) {
					return nil
				}
			}
			return invalidParameter("maintenanceConfigName",
				"The maintenance configuration '%s' is not one of default, aksManagedAutoUpgradeSchedule and aksManagedNodeOSUpgradeSchedule", name)
		},
		Prepare: prepareMaintenance,
		View: func(_ *provider.Call, it *provider.Item) { // recordings have neither
			delete(it.Body, "type")
			body.Delete(it.Body, "properties.provisioningState")
		},
	}
}

func prepareMaintenance(c *provider.Call, d *provider.Draft) error {
	w := "properties.maintenanceWindow."
	for _, k := range []string{"notAllowedTime", "timeInWeek"} {
		dropEmpty(d.New, "properties."+k)
	}
	if body.Child(d.New, "properties.maintenanceWindow") == nil {
		if !strings.EqualFold(d.Name, "default") {
			return invalidParameter("maintenanceWindow", "maintenanceWindow is required for %s", d.Name)
		}
		return nil
	}
	if hours := body.Int(d.New, w+"durationHours"); hours < 4 || hours > 24 {
		return invalidParameter("maintenanceWindow.durationHours", "durationHours %d is not between 4 and 24", hours)
	}
	if s := body.String(d.New, w+"startTime"); !clockTime.MatchString(s) {
		return invalidParameter("maintenanceWindow.startTime", "startTime '%s' is not of the form hh:mm", s)
	}
	kinds := 0
	for _, k := range []string{"daily", "weekly", "absoluteMonthly", "relativeMonthly"} {
		if body.Child(d.New, w+"schedule."+k) != nil {
			kinds++
		}
	}
	if kinds != 1 {
		return invalidParameter("maintenanceWindow.schedule", "Exactly one schedule must be given, there are %d", kinds)
	}
	body.Default(d.New, w+"utcOffset", "+00:00")
	body.Default(d.New, w+"startDate", c.Now().Format("2006-01-02"))
	return nil
}

// trustedAccessType returns the type of bindings that let other services into a cluster.
func trustedAccessType() *provider.Type {
	return &provider.Type{
		Name: ManagedClusters + "/trustedAccessRoleBindings", APIVersions: apiVersions, Style: provider.Containers, Untracked: true,
		StateNew: "Updating",
		Create:   provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(20)},
		Update:   provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(20)},
		Delete:   provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(20)}, DeleteRetryAfter: -1,
		Serial: func(id store.ID) []string { return []string{id.String()} },
		Prepare: func(_ *provider.Call, d *provider.Draft) error {
			if body.String(d.New, "properties.sourceResourceId") == "" || len(body.Strings(d.New, "properties.roles")) == 0 {
				return invalidParameter("trustedAccessRoleBinding", "sourceResourceId and at least one role are required")
			}
			if was := body.String(d.Old, "properties.sourceResourceId"); was != "" &&
				!strings.EqualFold(was, body.String(d.New, "properties.sourceResourceId")) {
				return newRefusal(400, "PropertyChangeNotAllowed",
					"Changing property 'properties.sourceResourceId' is not allowed.").WithTarget("properties.sourceResourceId")
			}
			return nil
		},
	}
}

// servicePrefix returns the service CIDR of a stored cluster.
func servicePrefix(cl *store.Resource) netip.Prefix {
	n, _ := netip.ParsePrefix(body.String(cl.Body, "properties.networkProfile.serviceCidr"))
	return n
}
