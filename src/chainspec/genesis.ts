import { emptyBytes } from '#lib/bytes'
import type { Header } from '#types/header'
import { hashHeader } from '#types/header'
import { type Address, emptyOmmersHash, emptyRequestsHash, emptyRoot, type Hash, zeroHash } from '#types/ids'
import { bloomBytes } from '#types/log'
import type { Eip1559Params } from './eip1559Config.ts'
import { chainFault } from './faults.ts'
import { baseForks, type Fork, type ForkSchedule, forks, isActive } from './forks.ts'
import type { ParsedRollupConfig, RollupConfig } from './rollupConfig.ts'

export type GenesisAccount = {
  readonly address: Address
  /** u64 */
  readonly nonce: bigint
  /** wei */
  readonly balance: bigint
  readonly code: Uint8Array
  /** Slot number → value; without zero values. */
  readonly storage: ReadonlyMap<Hash, bigint>
}

/** Chain rules in a genesis file. Execution clients do not know Delta, so the schedule lacks it. */
export type GenesisChain = { readonly chainId: number; readonly schedule: ForkSchedule; readonly eip1559?: Eip1559Params }

/** Genesis header fields that a file contains; the others follow from the accounts and the schedule. */
export type GenesisHeaderFields = {
  readonly number: number
  readonly parentHash: Hash
  readonly beneficiary: Address
  readonly difficulty: bigint
  /** gas */
  readonly gasLimit: bigint
  /** gas */
  readonly gasUsed: bigint
  /** seconds */
  readonly timestamp: number
  readonly extraData: Uint8Array
  readonly mixHash: Hash
  /** 8 bytes */
  readonly nonce: Uint8Array
  /** wei per gas */
  readonly baseFeePerGas: bigint
  readonly blobGasUsed?: bigint
  readonly excessBlobGas?: bigint
}

export type Genesis = {
  readonly header: GenesisHeaderFields
  readonly accounts: readonly GenesisAccount[]
  /** Absent in the compact form. */
  readonly chain?: GenesisChain
}

/** State root, and the storage root of the message passer (0x42…16; the empty root when it has no storage). */
export type GenesisRoots = { readonly stateRoot: Hash; readonly messagePasserStorageRoot: Hash }

/** Builds the genesis header; a field of a later fork is present when the fork is active at genesis. */
export function genesisHeader(genesis: Genesis, schedule: ForkSchedule, roots: GenesisRoots): Header {
  const { blobGasUsed = 0n, excessBlobGas = 0n, ...given } = genesis.header
  const isAt = (fork: 'canyon' | 'ecotone' | 'isthmus'): boolean => isActive(schedule, fork, given.timestamp)
  return {
    ...given,
    ommersHash: emptyOmmersHash,
    stateRoot: roots.stateRoot,
    transactionsRoot: emptyRoot,
    receiptsRoot: emptyRoot,
    logsBloom: new Uint8Array(bloomBytes),
    ...(isAt('canyon') && { withdrawalsRoot: isAt('isthmus') ? roots.messagePasserStorageRoot : emptyRoot }),
    ...(isAt('ecotone') && { blobGasUsed, excessBlobGas, parentBeaconBlockRoot: zeroHash }),
    ...(isAt('isthmus') && { requestsHash: emptyRequestsHash }),
  }
}

/** Verifies the genesis header. @throws Fault WRONG_GENESIS (fatal) unless its hash equals the rollup config's */
export function verifyGenesisHash(config: { readonly genesis: Pick<RollupConfig['genesis'], 'l2'> }, header: Header): void {
  const hash = hashHeader(header)
  if (hash !== config.genesis.l2.hash) throw chainFault('WRONG_GENESIS', { expected: config.genesis.l2.hash, computed: hash })
}

function refuse(key: string, expected: unknown, found: unknown): never {
  throw chainFault('INVALID_CONFIG', { what: 'genesis', key, expected: `${expected}, as in the rollup config`, found: String(found) })
}

/** Returns the genesis file key of a fork's time. */
export const genesisForkKey = (fork: Fork): string =>
  (baseForks as readonly Fork[]).includes(fork) ? `config.base.${fork}` : `config.${fork}Time`

/** Returns the config with the admin of the activation registry, which a rollup.json need not have. */
function withAdmin(config: RollupConfig, { schedule: { activationAdmin } }: GenesisChain): RollupConfig {
  const known = config.schedule.activationAdmin
  if (activationAdmin === undefined || known === activationAdmin) return config
  if (known !== undefined) refuse('config.activationAdminAddress', known, activationAdmin)
  return { ...config, schedule: { ...config.schedule, activationAdmin } }
}

/**
 * Checks that a rollup config and a genesis file describe the same chain.
 * @returns the config, with the base-fee parameters and the activation admin of the genesis file when rollup.json has none
 * @throws Fault INVALID_CONFIG (fatal) that names the contradiction
 */
export function agreeWithGenesis({ config: given, hasEip1559 }: ParsedRollupConfig, { header, chain }: Genesis): RollupConfig {
  const config = chain === undefined ? given : withAdmin(given, chain)
  if (header.timestamp !== config.genesis.l2TimeSec) refuse('timestamp', config.genesis.l2TimeSec, header.timestamp)
  if (header.number !== config.genesis.l2.number) refuse('number', config.genesis.l2.number, header.number)
  if (chain === undefined) return config
  if (chain.chainId !== config.l2ChainId) refuse('config.chainId', config.l2ChainId, chain.chainId)
  for (const fork of forks) {
    if (fork === 'bedrock' || fork === 'delta') continue
    const [expected, found] = [config.schedule[fork], chain.schedule[fork]]
    if (expected !== found && !isActiveFromGenesis(config, expected, found)) {
      refuse(genesisForkKey(fork), expected ?? 'absent', found ?? 'absent')
    }
  }
  if (chain.eip1559 === undefined) return config
  if (!hasEip1559) return { ...config, eip1559: chain.eip1559 }
  for (const key of ['elasticity', 'denominator', 'denominatorCanyon'] as const) {
    if (chain.eip1559[key] !== config.eip1559[key]) refuse(`config.optimism (${key})`, config.eip1559[key], chain.eip1559[key])
  }
  return config
}

/** Returns whether both times activate a fork at genesis. Zero and the genesis time are equivalent. */
function isActiveFromGenesis(config: RollupConfig, a: number | undefined, b: number | undefined): boolean {
  const start = config.genesis.l2TimeSec
  return a !== undefined && b !== undefined && a <= start && b <= start
}

/** Creates an account from the fields of a file, with defaults for absent fields. */
export function genesisAccount(
  address: Address,
  fields: { nonce?: bigint; balance?: bigint; code?: Uint8Array; storage?: Iterable<readonly [Hash, bigint]> },
): GenesisAccount {
  const storage = new Map<Hash, bigint>()
  for (const [slot, value] of fields.storage ?? []) if (value !== 0n) storage.set(slot, value)
  return { address, nonce: fields.nonce ?? 0n, balance: fields.balance ?? 0n, code: fields.code ?? emptyBytes, storage }
}
