package compute

import (
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Full names of the types of reserved capacity.
const (
	ReservationGroups = "Microsoft.Compute/capacityReservationGroups"
	Reservations      = ReservationGroups + "/capacityReservations"
)

// reservationTypes are groups of reserved capacity and the reservations in them.
func reservationTypes() []*provider.Type {
	group := &provider.Type{
		Name: ReservationGroups, Style: provider.Compute, DeleteRetryAfter: -1,
		Create: provider.Timing{HTTP: 400 * time.Millisecond, LRO: 150 * time.Millisecond},
		Delete: provider.Timing{HTTP: 400 * time.Millisecond, LRO: 150 * time.Millisecond}, Read: provider.Timing{HTTP: 200 * time.Millisecond},
		ReadOnlyPaths: []string{"properties.capacityReservations", "properties.virtualMachinesAssociated", "properties.instanceView"},
		Immutable:     []string{"zones"},
		Prepare: func(_ *provider.Call, d *provider.Draft) error {
			return checkZoneNames(d.ID, d.Location, body.Strings(d.New, "zones"))
		},
		View: func(c *provider.Call, it *provider.Item) {
			reserved := []any{}
			for _, r := range c.List(Reservations, it.ID) {
				reserved = append(reserved, body.Object{"id": r.ID})
			}
			for field, list := range map[string][]any{"capacityReservations": reserved,
				"virtualMachinesAssociated": vmsOf(c, it.ID, "capacityReservationGroup")} {
				if len(list) > 0 {
					body.Set(it.Body, "properties."+field, list)
				}
			}
			if isExpanded(c) {
				states := []any{}
				for _, r := range c.List(Reservations, it.ID) {
					state := reservationState(c, r)
					state["name"] = r.Name()
					states = append(states, state)
				}
				body.Set(it.Body, "properties.instanceView", body.Object{"capacityReservations": states})
			}
		},
		CanDelete: func(c *provider.Call, it *provider.Item) error {
			if !c.Internal && len(c.List(Reservations, it.ID)) > 0 || len(vmsOf(c, it.ID, "capacityReservationGroup")) > 0 {
				return provider.Errorf(409, "OperationNotAllowed",
					"Capacity reservation group '%s' cannot be deleted. Before deleting it please ensure that it does not contain any capacity reservation, and that no VM is associated with it.", it.Name)
			}
			return nil
		},
	}
	reservation := &provider.Type{
		Name: Reservations, Style: provider.Compute, DeleteRetryAfter: -1,
		Create: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(5)},
		Delete: provider.Timing{HTTP: 500 * time.Millisecond, LRO: provider.Seconds(3)}, Read: provider.Timing{HTTP: 200 * time.Millisecond},
		ReadOnlyPaths: []string{"properties.reservationId", "properties.virtualMachinesAssociated", "properties.provisioningTime",
			"properties.timeCreated", "properties.instanceView"},
		Immutable: []string{"sku.name", "zones"},
		Prepare: func(c *provider.Call, d *provider.Draft) error {
			z, err := CheckSize(c, d.ID, body.String(d.New, "sku.name"), d.Location, body.Strings(d.New, "zones"), 0, false)
			if err != nil {
				return err
			}
			if z.GPUs > 0 {
				return provider.InvalidParameter("sku.name", "The VM size '%s' does not support capacity reservations.", z.Name)
			}
			if body.Get(d.New, "sku.capacity") == nil {
				return provider.MissingProperty("sku.capacity")
			}
			d.Keep("properties.reservationId", c.NewGUID)
			d.Keep("properties.timeCreated", func() string { return c.Now().Format("2006-01-02T15:04:05.0000000+00:00") })
			body.Set(d.New, "properties.platformFaultDomainCount", 1)
			if at := body.String(d.Old, "properties.provisioningTime"); at != "" {
				body.Set(d.New, "properties.provisioningTime", at)
			}
			return nil
		},
		View: func(c *provider.Call, it *provider.Item) {
			if isExpanded(c) {
				body.Set(it.Body, "properties.instanceView", reservationState(c, it.Resource))
			}
		},
		Finish: func(c *provider.Call, _ *store.Operation, r *store.Resource) error {
			body.Default(r.Body, "properties.provisioningTime", c.Now().Format("2006-01-02T15:04:05.0000000+00:00"))
			return nil
		},
	}
	return []*provider.Type{group, reservation}
}

// checkReservation accepts a VM only in a group that has a reservation for its size and zone.
//
// Source:
// https://learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview#limitations-and-restrictions for
// the settings that exclude each other; the codes are Compute's generic ones.
func checkReservation(c *provider.Call, d *provider.Draft, z Size) error {
	const path = "capacityReservation.capacityReservationGroup"
	if !body.Has(d.New, "properties."+path) || !isReplaced(d, "properties."+path+".id") {
		return nil
	}
	group, err := findReferred(c, body.String(d.New, "properties."+path+".id"), ReservationGroups, path, d.Location)
	if err != nil {
		return err
	}
	for field, what := range body.Sorted(map[string]string{"availabilitySet": "an availability set",
		"proximityPlacementGroup": "a proximity placement group"}) {
		if body.Has(d.New, "properties."+field) {
			return provider.Errorf(400, "BadRequest", "A virtual machine in %s cannot be associated with capacity reservation group '%s'.", what,
				group.Name)
		}
	}
	if strings.EqualFold(body.String(d.New, "properties.priority"), "Spot") {
		return provider.Errorf(400, "BadRequest", "An Azure Spot virtual machine cannot be associated with capacity reservation group '%s'.",
			group.Name)
	}
	zones := body.Strings(d.New, "zones")
	for _, r := range c.List(Reservations, group.ID) {
		if strings.EqualFold(body.String(r.Body, "sku.name"), z.Name) && slices.Equal(body.Strings(r.Body, "zones"), zones) {
			return nil
		}
	}
	return provider.InvalidParameter(path, "Capacity reservation group '%s' has no capacity reservation for VM size '%s' in zones '%s'.",
		group.Name, z.Name, strings.Join(zones, ","))
}
