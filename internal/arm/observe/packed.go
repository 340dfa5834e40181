package observe

import "sigs.k8s.io/cluster-api-provider-azure/internal/arm/packed"

// pack has an observation kept in little memory.
func (o Observation) pack(p *packed.Packer) Observation {
	o.packed, o.Body = p.Pack(o.ID.Type(), o.Body), nil
	return o
}

// unpacked is an observation with its body. What cannot be read back is no observation: ok is false.
func (o Observation) unpacked() (out Observation, ok bool) {
	if o.packed.Empty() {
		return o, true
	}
	body, err := o.packed.Open()
	if err != nil {
		return Observation{}, false
	}
	o.Body, o.packed = body, packed.Body{}
	return o, true
}
