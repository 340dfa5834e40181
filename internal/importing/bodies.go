package importing

// reference is a reference to another resource.
type reference struct{ ID string }

// networkBody is a virtual network.
type networkBody struct {
	head
	Properties struct {
		AddressSpace           struct{ AddressPrefixes []string }
		Subnets                []subnetBody
		VirtualNetworkPeerings []peeringBody
	}
}

type subnetBody struct {
	ID, Name   string
	Properties struct {
		AddressPrefix                                string
		AddressPrefixes                              []string
		NetworkSecurityGroup, RouteTable, NatGateway *reference
		ServiceEndpoints                             []struct {
			Service   string
			Locations []string
		}
	}
}

// blocks returns the address ranges of the subnet.
func (s subnetBody) blocks() []string {
	if len(s.Properties.AddressPrefixes) == 0 && s.Properties.AddressPrefix != "" {
		return []string{s.Properties.AddressPrefix}
	}
	return s.Properties.AddressPrefixes
}

type peeringBody struct {
	Name       string
	Properties struct {
		RemoteVirtualNetwork reference
		AllowForwardedTraffic, AllowGatewayTransit, AllowVirtualNetworkAccess,
		UseRemoteGateways *bool
	}
}

type securityGroupBody struct {
	head
	Properties struct{ SecurityRules []securityRuleBody }
}

type securityRuleBody struct {
	Name       string
	Properties struct {
		Description, Protocol, Access, Direction                                                   string
		Priority                                                                                   int32
		SourcePortRange, DestinationPortRange, SourceAddressPrefix, DestinationAddressPrefix       *string
		SourcePortRanges, DestinationPortRanges, SourceAddressPrefixes, DestinationAddressPrefixes []string
		SourceApplicationSecurityGroups, DestinationApplicationSecurityGroups                      []reference
	}
}

type natGatewayBody struct {
	head
	Properties struct{ PublicIPAddresses []reference }
}

type publicIPBody struct {
	head
	Properties struct {
		IPAddress   string
		DNSSettings *struct{ FQDN, DomainNameLabel string }
		IPTags      []struct{ IPTagType, Tag string }
	}
}

type loadBalancerBody struct {
	head
	SKU        struct{ Name string }
	Properties struct {
		FrontendIPConfigurations []frontendBody
		BackendAddressPools      []struct{ ID, Name string }
		LoadBalancingRules       []ruleBody
		OutboundRules            []struct {
			Name       string
			Properties struct {
				IdleTimeoutInMinutes *int32
				BackendAddressPool   *reference
			}
		}
		InboundNatRules []struct {
			Name       string
			Properties struct{ FrontendPort int32 }
		}
	}
}

type frontendBody struct {
	ID, Name   string
	Zones      []string
	Properties struct {
		PrivateIPAddress        string
		PublicIPAddress, Subnet *reference
	}
}

type interfaceBody struct {
	head
	Properties struct {
		EnableAcceleratedNetworking, EnableIPForwarding *bool
		DNSSettings                                     struct{ DNSServers []string }
		IPConfigurations                                []ipConfigurationBody
	}
}

type ipConfigurationBody struct {
	Name       string
	Properties struct {
		Primary                         bool
		PrivateIPAddress                string
		PrivateIPAddressVersion         string
		Subnet, PublicIPAddress         *reference
		LoadBalancerBackendAddressPools []reference
	}
}

type bastionBody struct {
	head
	SKU        struct{ Name string }
	Properties struct {
		EnableTunneling  bool
		IPConfigurations []struct {
			Properties struct{ PublicIPAddress, Subnet *reference }
		}
	}
}

type privateEndpointBody struct {
	head
	Properties struct {
		CustomNetworkInterfaceName string
		Subnet                     reference
		ApplicationSecurityGroups  []reference
		IPConfigurations           []struct {
			Properties struct{ PrivateIPAddress string }
		}
		PrivateLinkServiceConnections, ManualPrivateLinkServiceConnections []struct {
			Name       string
			Properties struct {
				PrivateLinkServiceID, RequestMessage string
				GroupIDs                             []string
			}
		}
	}
}

// machineBody is a virtual machine.
type machineBody struct {
	head
	Identity   identityBody
	Plan       *planBody
	Properties struct {
		vmBody
		HardwareProfile                         struct{ VMSize string }
		NetworkProfile                          struct{ NetworkInterfaces []interfaceReference }
		AvailabilitySet, VirtualMachineScaleSet *reference
		AdditionalCapabilities                  *capabilitiesBody
	}
}

type interfaceReference struct {
	ID         string
	Properties struct{ Primary bool }
}

type identityBody struct {
	Type                   string
	PrincipalID            string
	UserAssignedIdentities map[string]any
}

type planBody struct{ Publisher, Product, Name string }

type capabilitiesBody struct{ UltraSSDEnabled *bool }

// vmBody is the part that virtual machines and the template of a scale set have in common.
type vmBody struct {
	CapacityReservation struct{ CapacityReservationGroup *reference }
	StorageProfile      struct {
		ImageReference *imageBody
		OSDisk         osDiskBody
		DataDisks      []dataDiskBody
	}
	OSProfile struct {
		AdminUsername            string
		AllowExtensionOperations *bool
		LinuxConfiguration       *struct {
			SSH struct {
				PublicKeys []struct{ Path, KeyData string }
			}
		}
	}
	SecurityProfile *struct {
		EncryptionAtHost *bool
		SecurityType     string
		UefiSettings     *struct{ SecureBootEnabled, VTpmEnabled *bool }
	}
	DiagnosticsProfile *struct {
		BootDiagnostics *struct {
			Enabled    bool
			StorageURI string
		}
	}
	Priority       string
	EvictionPolicy string
	BillingProfile *struct{ MaxPrice *float64 }
}

type imageBody struct {
	ID, CommunityGalleryImageID, Publisher, Offer, SKU, Version string
}

type osDiskBody struct {
	Name, OSType, Caching string
	DiskSizeGB            *int32
	DiffDiskSettings      *struct{ Option, Placement string }
	ManagedDisk           *managedDiskBody
}

type dataDiskBody struct {
	Name, CreateOption, Caching string
	DiskSizeGB, Lun             *int32
	ManagedDisk                 *managedDiskBody
}

type managedDiskBody struct {
	StorageAccountType string
	DiskEncryptionSet  *reference
	SecurityProfile    *struct {
		DiskEncryptionSet      *reference
		SecurityEncryptionType string
	}
}

type extensionBody struct {
	head
	Name       string
	Properties struct {
		Publisher, Type, TypeHandlerVersion string
		Settings                            map[string]any
	}
}

// scaleSetBody is a scale set.
type scaleSetBody struct {
	head
	SKU struct {
		Name     string
		Capacity *int32
	}
	Identity   identityBody
	Plan       *planBody
	Properties struct {
		OrchestrationMode        string
		PlatformFaultDomainCount *int32
		ZoneBalance              *bool
		AdditionalCapabilities   *capabilitiesBody
		VirtualMachineProfile    *struct {
			vmBody
			ExtensionProfile struct{ Extensions []extensionBody }
			NetworkProfile   struct {
				NetworkInterfaceConfigurations []struct {
					Name       string
					Properties struct {
						Primary                     bool
						EnableAcceleratedNetworking *bool
						IPConfigurations            []ipConfigurationBody
					}
				}
			}
			ScheduledEventsProfile struct {
				TerminateNotificationProfile *struct {
					Enable           bool
					NotBeforeTimeout string
				}
			}
		}
	}
}

type ruleBody struct {
	Name       string
	Properties struct {
		FrontendPort, BackendPort                          int32
		IdleTimeoutInMinutes                               *int32
		BackendAddressPool, Probe, FrontendIPConfiguration *reference
	}
}
