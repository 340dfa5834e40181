package server_test

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
)

// vmProfile returns the properties that VMs and the model of scale sets have in common.
func vmProfile() obj {
	return obj{
		"storageProfile": obj{"imageReference": obj{"publisher": "Canonical", "offer": "0001-com-ubuntu-server-jammy", "sku": "22_04-lts-gen2",
			"version": "latest"},
			"osDisk": obj{"createOption": "FromImage", "managedDisk": obj{"storageAccountType": "Premium_LRS"}}},
	}
}

func withKeys(names obj) obj {
	names["adminUsername"] = "capi"
	names["linuxConfiguration"] = obj{"disablePasswordAuthentication": true,
		"ssh": obj{"publicKeys": []obj{{"path": "/home/capi/.ssh/authorized_keys", "keyData": "ssh-rsa AAAA"}}}}
	return names
}

func newExtension(name string) obj {
	of := map[string]obj{"aa": {"publisher": "Microsoft.Azure.Extensions", "type": "CustomScript", "typeHandlerVersion": "2.1"},
		"bb": {"publisher": "Microsoft.Azure.Monitor", "type": "AzureMonitorLinuxAgent", "typeHandlerVersion": "1.0"}}
	return obj{"location": "westus3", "properties": of[name]}
}

// computeTypes returns the types of Microsoft.Compute, each after its dependencies.
func (a *azure) computeTypes() []sdkType {
	made, err := armcompute.NewClientFactory(sub, a.tokenCredential(), a.armOptions())
	f := mustMake(a, made, err)
	disks, sets, placements, vms := f.NewDisksClient(), f.NewAvailabilitySetsClient(), f.NewProximityPlacementGroupsClient(),
		f.NewVirtualMachinesClient()
	scaleSets, galleries, definitions := f.NewVirtualMachineScaleSetsClient(), f.NewGalleriesClient(), f.NewGalleryImagesClient()
	reservations, capacities, encryptions := f.NewCapacityReservationGroupsClient(), f.NewCapacityReservationsClient(),
		f.NewDiskEncryptionSetsClient()
	images, versions, extensions, setExtensions := f.NewImagesClient(), f.NewGalleryImageVersionsClient(),
		f.NewVirtualMachineExtensionsClient(), f.NewVirtualMachineScaleSetExtensionsClient()
	version := func(name string) string { return octetOf(name) + ".0.0" }
	return []sdkType{
		{"Microsoft.Compute/disks", 0,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armcompute.DisksClientCreateOrUpdateResponse], error) {
				return disks.BeginCreateOrUpdate(ctx, "rg", name,
					decodeModel[armcompute.Disk](a,
						obj{"location": "westus3", "properties": obj{"creationData": obj{"createOption": "Empty"}, "diskSizeGB": 16}}),
					&armcompute.DisksClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcompute.DisksClientGetResponse, error) {
				return disks.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcompute.DisksClientListByResourceGroupResponse] {
				return disks.NewListByResourceGroupPager("rg", nil)
			}, func(p armcompute.DisksClientListByResourceGroupResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armcompute.DisksClientDeleteResponse], error) {
				return disks.BeginDelete(ctx, "rg", name, &armcompute.DisksClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Compute/availabilitySets", 0,
			immediateCall(func(ctx context.Context, name string) (armcompute.AvailabilitySetsClientCreateOrUpdateResponse, error) {
				return sets.CreateOrUpdate(ctx, "rg", name,
					decodeModel[armcompute.AvailabilitySet](a,
						obj{"location": "westus3", "sku": obj{"name": "Aligned"},
							"properties": obj{"platformFaultDomainCount": 2, "platformUpdateDomainCount": 5}}), nil)
			}),
			immediateCall(func(ctx context.Context, name string) (armcompute.AvailabilitySetsClientGetResponse, error) {
				return sets.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcompute.AvailabilitySetsClientListResponse] {
				return sets.NewListPager("rg", nil)
			}, func(p armcompute.AvailabilitySetsClientListResponse) int { return len(p.Value) }),
			immediateCall(func(ctx context.Context, name string) (armcompute.AvailabilitySetsClientDeleteResponse, error) {
				return sets.Delete(ctx, "rg", name, nil)
			})},
		{"Microsoft.Compute/proximityPlacementGroups", 0,
			immediateCall(func(ctx context.Context, name string) (armcompute.ProximityPlacementGroupsClientCreateOrUpdateResponse, error) {
				return placements.CreateOrUpdate(ctx, "rg", name, armcompute.ProximityPlacementGroup{Location: new("westus3")}, nil)
			}),
			immediateCall(func(ctx context.Context, name string) (armcompute.ProximityPlacementGroupsClientGetResponse, error) {
				return placements.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcompute.ProximityPlacementGroupsClientListByResourceGroupResponse] {
				return placements.NewListByResourceGroupPager("rg", nil)
			}, func(p armcompute.ProximityPlacementGroupsClientListByResourceGroupResponse) int { return len(p.Value) }),
			immediateCall(func(ctx context.Context, name string) (armcompute.ProximityPlacementGroupsClientDeleteResponse, error) {
				return placements.Delete(ctx, "rg", name, nil)
			})},
		{"Microsoft.Compute/capacityReservationGroups", 0,
			immediateCall(func(ctx context.Context, name string) (armcompute.CapacityReservationGroupsClientCreateOrUpdateResponse, error) {
				return reservations.CreateOrUpdate(ctx, "rg", name, armcompute.CapacityReservationGroup{Location: new("westus3")}, nil)
			}),
			immediateCall(func(ctx context.Context, name string) (armcompute.CapacityReservationGroupsClientGetResponse, error) {
				return reservations.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcompute.CapacityReservationGroupsClientListByResourceGroupResponse] {
				return reservations.NewListByResourceGroupPager("rg", nil)
			}, func(p armcompute.CapacityReservationGroupsClientListByResourceGroupResponse) int { return len(p.Value) }),
			// Azure answers a deletion with 202, as recorded, which the SDK takes for an error.
			nil},
		{"Microsoft.Compute/virtualMachines", 412,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcompute.VirtualMachinesClientCreateOrUpdateResponse], error) {
				properties := vmProfile()
				properties["hardwareProfile"], properties["osProfile"] = obj{"vmSize": "Standard_D2s_v3"}, withKeys(obj{"computerName": name})
				properties["networkProfile"] = obj{"networkInterfaces": []obj{inGroup("Microsoft.Network/networkInterfaces/" + name)}}
				return vms.BeginCreateOrUpdate(ctx, "rg", name,
					decodeModel[armcompute.VirtualMachine](a, obj{"location": "westus3", "properties": properties}),
					&armcompute.VirtualMachinesClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcompute.VirtualMachinesClientGetResponse, error) {
				return vms.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcompute.VirtualMachinesClientListResponse] {
				return vms.NewListPager("rg", nil)
			}, func(p armcompute.VirtualMachinesClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armcompute.VirtualMachinesClientDeleteResponse],
				error) {
				return vms.BeginDelete(ctx, "rg", name, &armcompute.VirtualMachinesClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Compute/virtualMachineScaleSets", 412,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcompute.VirtualMachineScaleSetsClientCreateOrUpdateResponse], error) {
				profile := vmProfile()
				profile["osProfile"] = withKeys(obj{"computerNamePrefix": name})
				profile["networkProfile"] = obj{"networkInterfaceConfigurations": []obj{{"name": "nic",
					"properties": obj{"primary": true, "ipConfigurations": []obj{{"name": "ip",
						"properties": obj{"subnet": inGroup("Microsoft.Network/virtualNetworks/aa/subnets/aa")}}}}}}}
				return scaleSets.BeginCreateOrUpdate(ctx, "rg", name,
					decodeModel[armcompute.VirtualMachineScaleSet](a, obj{"location": "westus3", "sku": obj{"name": "Standard_D2s_v3", "capacity": 1},
						"properties": obj{"orchestrationMode": "Uniform", "upgradePolicy": obj{"mode": "Manual"}, "virtualMachineProfile": profile}}),
					&armcompute.VirtualMachineScaleSetsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcompute.VirtualMachineScaleSetsClientGetResponse, error) {
				return scaleSets.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcompute.VirtualMachineScaleSetsClientListResponse] {
				return scaleSets.NewListPager("rg", nil)
			}, func(p armcompute.VirtualMachineScaleSetsClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcompute.VirtualMachineScaleSetsClientDeleteResponse], error) {
				return scaleSets.BeginDelete(ctx, "rg", name, &armcompute.VirtualMachineScaleSetsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Compute/galleries", 0,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armcompute.GalleriesClientCreateOrUpdateResponse],
				error) {
				return galleries.BeginCreateOrUpdate(ctx, "rg", name, armcompute.Gallery{Location: new("westus3")},
					&armcompute.GalleriesClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcompute.GalleriesClientGetResponse, error) {
				return galleries.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcompute.GalleriesClientListByResourceGroupResponse] {
				return galleries.NewListByResourceGroupPager("rg", nil)
			}, func(p armcompute.GalleriesClientListByResourceGroupResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armcompute.GalleriesClientDeleteResponse], error) {
				return galleries.BeginDelete(ctx, "rg", name, &armcompute.GalleriesClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Compute/galleries/images", 0,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armcompute.GalleryImagesClientCreateOrUpdateResponse],
				error) {
				return definitions.BeginCreateOrUpdate(ctx, "rg", "aa", name,
					decodeModel[armcompute.GalleryImage](a,
						obj{"location": "westus3", "properties": obj{"osType": "Linux", "osState": "Generalized", "hyperVGeneration": "V2",
							"identifier": obj{"publisher": "p", "offer": "o", "sku": name}}}),
					&armcompute.GalleryImagesClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcompute.GalleryImagesClientGetResponse, error) {
				return definitions.Get(ctx, "rg", "aa", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcompute.GalleryImagesClientListByGalleryResponse] {
				return definitions.NewListByGalleryPager("rg", "aa", nil)
			}, func(p armcompute.GalleryImagesClientListByGalleryResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armcompute.GalleryImagesClientDeleteResponse], error) {
				return definitions.BeginDelete(ctx, "rg", "aa", name, &armcompute.GalleryImagesClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Compute/images", 0,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armcompute.ImagesClientCreateOrUpdateResponse],
				error) {
				return images.BeginCreateOrUpdate(ctx, "rg", name,
					decodeModel[armcompute.Image](a,
						obj{"location": "westus3",
							"properties": obj{"hyperVGeneration": "V2", "storageProfile": obj{"osDisk": obj{"osType": "Linux", "osState": "Generalized",
								"managedDisk": inGroup("Microsoft.Compute/disks/aa")}}}}),
					&armcompute.ImagesClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcompute.ImagesClientGetResponse, error) {
				return images.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcompute.ImagesClientListByResourceGroupResponse] {
				return images.NewListByResourceGroupPager("rg", nil)
			}, func(p armcompute.ImagesClientListByResourceGroupResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armcompute.ImagesClientDeleteResponse], error) {
				return images.BeginDelete(ctx, "rg", name, &armcompute.ImagesClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Compute/galleries/images/versions", 0,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcompute.GalleryImageVersionsClientCreateOrUpdateResponse], error) {
				return versions.BeginCreateOrUpdate(ctx, "rg", "aa", "aa", version(name),
					decodeModel[armcompute.GalleryImageVersion](a,
						obj{"location": "westus3", "properties": obj{"storageProfile": obj{"source": inGroup("Microsoft.Compute/images/aa")}}}),
					&armcompute.GalleryImageVersionsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcompute.GalleryImageVersionsClientGetResponse, error) {
				return versions.Get(ctx, "rg", "aa", "aa", version(name), nil)
			}),
			countPaged(func() *runtime.Pager[armcompute.GalleryImageVersionsClientListByGalleryImageResponse] {
				return versions.NewListByGalleryImagePager("rg", "aa", "aa", nil)
			}, func(p armcompute.GalleryImageVersionsClientListByGalleryImageResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armcompute.GalleryImageVersionsClientDeleteResponse],
				error) {
				return versions.BeginDelete(ctx, "rg", "aa", "aa", version(name),
					&armcompute.GalleryImageVersionsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Compute/capacityReservationGroups/capacityReservations", 0,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcompute.CapacityReservationsClientCreateOrUpdateResponse], error) {
				return capacities.BeginCreateOrUpdate(ctx, "rg", "aa", name,
					decodeModel[armcompute.CapacityReservation](a, obj{"location": "westus3", "sku": obj{"name": "Standard_D2s_v3", "capacity": 1}}),
					&armcompute.CapacityReservationsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcompute.CapacityReservationsClientGetResponse, error) {
				return capacities.Get(ctx, "rg", "aa", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcompute.CapacityReservationsClientListByCapacityReservationGroupResponse] {
				return capacities.NewListByCapacityReservationGroupPager("rg", "aa", nil)
			}, func(p armcompute.CapacityReservationsClientListByCapacityReservationGroupResponse) int {
				return len(p.Value)
			}),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armcompute.CapacityReservationsClientDeleteResponse],
				error) {
				return capacities.BeginDelete(ctx, "rg", "aa", name, &armcompute.CapacityReservationsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Compute/diskEncryptionSets", 0,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcompute.DiskEncryptionSetsClientCreateOrUpdateResponse], error) {
				return encryptions.BeginCreateOrUpdate(ctx, "rg", name,
					decodeModel[armcompute.DiskEncryptionSet](a,
						obj{"location": "westus3", "identity": obj{"type": "SystemAssigned"},
							"properties": obj{"activeKey": obj{"keyUrl": "https://keys.vault.azure.net/keys/k/0123456789abcdef0123456789abcdef"}}}),
					&armcompute.DiskEncryptionSetsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcompute.DiskEncryptionSetsClientGetResponse, error) {
				return encryptions.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcompute.DiskEncryptionSetsClientListByResourceGroupResponse] {
				return encryptions.NewListByResourceGroupPager("rg", nil)
			}, func(p armcompute.DiskEncryptionSetsClientListByResourceGroupResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armcompute.DiskEncryptionSetsClientDeleteResponse],
				error) {
				return encryptions.BeginDelete(ctx, "rg", name, &armcompute.DiskEncryptionSetsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Compute/virtualMachines/extensions", 0,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcompute.VirtualMachineExtensionsClientCreateOrUpdateResponse], error) {
				return extensions.BeginCreateOrUpdate(ctx, "rg", "aa", name, decodeModel[armcompute.VirtualMachineExtension](a, newExtension(name)),
					&armcompute.VirtualMachineExtensionsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcompute.VirtualMachineExtensionsClientGetResponse, error) {
				return extensions.Get(ctx, "rg", "aa", name, nil)
			}),
			countUnpaged(func(ctx context.Context) (int, error) {
				answer, err := extensions.List(ctx, "rg", "aa", nil)
				return len(answer.Value), err
			}),
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcompute.VirtualMachineExtensionsClientDeleteResponse], error) {
				return extensions.BeginDelete(ctx, "rg", "aa", name, &armcompute.VirtualMachineExtensionsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Compute/virtualMachineScaleSets/extensions", 0,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcompute.VirtualMachineScaleSetExtensionsClientCreateOrUpdateResponse], error) {
				return setExtensions.BeginCreateOrUpdate(ctx, "rg", "aa", name,
					decodeModel[armcompute.VirtualMachineScaleSetExtension](a, newExtension(name)),
					&armcompute.VirtualMachineScaleSetExtensionsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcompute.VirtualMachineScaleSetExtensionsClientGetResponse, error) {
				return setExtensions.Get(ctx, "rg", "aa", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcompute.VirtualMachineScaleSetExtensionsClientListResponse] {
				return setExtensions.NewListPager("rg", "aa", nil)
			}, func(p armcompute.VirtualMachineScaleSetExtensionsClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcompute.VirtualMachineScaleSetExtensionsClientDeleteResponse], error) {
				return setExtensions.BeginDelete(ctx, "rg", "aa", name,
					&armcompute.VirtualMachineScaleSetExtensionsClientBeginDeleteOptions{ResumeToken: token})
			})},
	}
}
