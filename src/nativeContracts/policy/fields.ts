import { fieldsOf } from '../kit/slots.ts'

const registry = fieldsOf('base.policy_registry')

/** Storage of the policy registry. Ids are u64 keys. */
export const policyFields = {
  /** Bit 255: the policy exists; low 160 bits: its admin. */
  policies: registry.mapping(0),
  /** id → account → flag. */
  members: registry.nested(1),
  pendingAdmins: registry.mapping(2),
  /** Counter of the next policy, shared by all types. */
  counter: registry.word(3),
  /** id → list of u64. */
  children: registry.mapping(4),
}
