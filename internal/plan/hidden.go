package plan

// HiddenValue stands in messages for a value that may be a secret: users paste private keys into fields of public ones.
const HiddenValue = "(hidden)"
