import { readFileSync } from 'node:fs'
import type { SystemConfig } from '#chainspec/systemConfig'
import { bytesFromBigint } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { lazy } from '#lib/lazy'
import { type Address, type Hash, hashFromBytes, parseAddress } from '#types/ids'

/** Addresses of the devnet's contracts on its L1. */
export const portalAddress: Address = parseAddress('0xde00000000000000000000000000000000000001')
export const systemConfigAddress: Address = parseAddress('0xde00000000000000000000000000000000000002')

/** Contract that exists from genesis on: code and storage by slot, without a constructor call. */
export type L1Contract = { readonly address: Address; readonly code: Uint8Array; readonly storage: ReadonlyMap<Hash, Hash> }

type StorageLocation = { readonly slot: number; readonly offsetBytes: number; readonly sizeBytes: number }
type Compiled = { readonly abi: readonly unknown[]; readonly code: string; readonly storage: Readonly<Record<string, StorageLocation>> }

/** Output of `npm run build:contracts` from contracts/. */
export const compiledContracts = lazy(
  () =>
    JSON.parse(readFileSync(new URL('./data/contracts.json', import.meta.url), 'utf8')) as Readonly<
      Record<'DevnetPortal' | 'DevnetSystemConfig', Compiled>
    >,
)

const word = (value: bigint): Hash => hashFromBytes(bytesFromBigint(value, 32))

/** Slot from which nodes read the signer. @see specs protocol/system-config.md, "unsafeBlockSigner" */
export const unsafeBlockSignerSlot: Hash = hashFromBytes(keccak256(new TextEncoder().encode('systemconfig.unsafeblocksigner')))

export type L1ContractsOptions = {
  /** account that may change the system config */
  readonly owner: Address
  readonly systemConfig: SystemConfig
  readonly unsafeBlockSigner: Address
}

/** Returns storage words from values by state variable, packed as the compiler lays them out. Zero words are omitted. */
function storageOf(
  locations: Readonly<Record<string, StorageLocation>>,
  values: Readonly<Record<string, bigint | number>>,
): Map<Hash, Hash> {
  const words = new Map<number, bigint>()
  for (const [name, value] of Object.entries(values)) {
    const location = locations[name]
    if (location === undefined) throw new RangeError(`the contract has no variable ${name}`)
    const { slot, offsetBytes, sizeBytes } = location
    if (BigInt(value) >> BigInt(8 * sizeBytes) !== 0n) throw new RangeError(`${name}: ${value} does not fit into ${sizeBytes} bytes`)
    words.set(slot, (words.get(slot) ?? 0n) | (BigInt(value) << BigInt(8 * offsetBytes)))
  }
  return new Map([...words].filter(([, value]) => value !== 0n).map(([slot, value]) => [word(BigInt(slot)), word(value)]))
}

/** Returns portal and system config for genesis. RangeError when a value does not fit its variable. */
export function l1Contracts({ owner, systemConfig, unsafeBlockSigner }: L1ContractsOptions): readonly L1Contract[] {
  const { DevnetPortal: portal, DevnetSystemConfig: config } = compiledContracts()
  const { batcher, ...values } = systemConfig
  const storage = storageOf(config.storage, { owner: BigInt(owner), batcherHash: BigInt(batcher), ...values })
  storage.set(unsafeBlockSignerSlot, word(BigInt(unsafeBlockSigner)))
  return [
    { address: portalAddress, code: fromHex(portal.code), storage: new Map() },
    { address: systemConfigAddress, code: fromHex(config.code), storage },
  ]
}
