import { keccak256Text } from '#lib/keccak'
import { type Hash, hashFromBytes } from '#types/ids'

const hashOfName = (name: string): Hash => hashFromBytes(keccak256Text(name))

/** Features that the admin of the activation registry activates before their first use. */
export const features = { asset: 'base.b20_asset', stablecoin: 'base.b20_stablecoin', policy: 'base.policy_registry' } as const
export type Feature = (typeof features)[keyof typeof features]

/** Uses of a policy by a token, by the name on the command line. */
export const scopes = {
  sender: 'TRANSFER_SENDER_POLICY',
  receiver: 'TRANSFER_RECEIVER_POLICY',
  executor: 'TRANSFER_EXECUTOR_POLICY',
  'mint-receiver': 'MINT_RECEIVER_POLICY',
} as const
export type Scope = keyof typeof scopes
export const scopeNames = Object.keys(scopes) as readonly Scope[]

const roles = [
  'MINT_ROLE',
  'BURN_ROLE',
  'BURN_BLOCKED_ROLE',
  'PAUSE_ROLE',
  'UNPAUSE_ROLE',
  'METADATA_ROLE',
  'OPERATOR_ROLE',
  'SEIZE_ROLE',
] as const

export const mintRole: Hash = hashOfName('MINT_ROLE')
export const featureHash = (feature: Feature): Hash => hashOfName(feature)
export const scopeHash = (scope: Scope): Hash => hashOfName(scopes[scope])

const known: ReadonlyMap<string, string> = new Map([
  [`0x${'00'.repeat(32)}`, 'DEFAULT_ADMIN_ROLE'],
  ...[...roles, ...Object.values(scopes), ...Object.values(features)].map((name) => [hashOfName(name), name] as const),
])

/** Returns the name of a role, a scope or a feature by its hash. */
export const nameOfHash = (hash: string): string | undefined => known.get(hash)
