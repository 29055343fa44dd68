import { readFileSync } from 'node:fs'
import type { SystemConfig } from '#chainspec/systemConfig'
import { bytesFromBigint } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { lazy } from '#lib/lazy'
import { type Address, type Hash, hashFromBytes, parseAddress } from '#types/ids'

/** Where the devnet's contracts are on its L1. */
export const portalAddress: Address = parseAddress('0xde00000000000000000000000000000000000001')
export const systemConfigAddress: Address = parseAddress('0xde00000000000000000000000000000000000002')

/** A contract that is there from genesis on: code and storage by slot, without a constructor having run. */
export type L1Contract = { readonly address: Address; readonly code: Uint8Array; readonly storage: ReadonlyMap<Hash, Hash> }

type Place = { readonly slot: number; readonly offsetBytes: number; readonly sizeBytes: number }
type Compiled = { readonly abi: readonly unknown[]; readonly code: string; readonly storage: Readonly<Record<string, Place>> }

/** What `npm run build:contracts` made of contracts/. */
export const compiledContracts = lazy(
  () =>
    JSON.parse(readFileSync(new URL('./data/contracts.json', import.meta.url), 'utf8')) as Readonly<
      Record<'DevnetPortal' | 'DevnetSystemConfig', Compiled>
    >,
)

const word = (value: bigint): Hash => hashFromBytes(bytesFromBigint(value, 32))

/** keccak of the name less one: nodes read the signer there. @see specs protocol/system-config.md, "Unsafe Block Signer Slot" */
export const unsafeBlockSignerSlot: Hash = word(
  BigInt(hashFromBytes(keccak256(new TextEncoder().encode('systemconfig.unsafeblocksigner')))) - 1n,
)

export type L1ContractsOptions = {
  /** who may change the system config */
  readonly owner: Address
  readonly systemConfig: SystemConfig
  readonly unsafeBlockSigner: Address
}

/** Values by name of the state variable, packed into words as the compiler lays them out. Zeros are left out. */
function storageOf(places: Readonly<Record<string, Place>>, values: Readonly<Record<string, bigint | number>>): Map<Hash, Hash> {
  const words = new Map<number, bigint>()
  for (const [name, value] of Object.entries(values)) {
    const place = places[name]
    if (place === undefined) throw new RangeError(`the contract has no variable ${name}`)
    const { slot, offsetBytes, sizeBytes } = place
    if (BigInt(value) >> BigInt(8 * sizeBytes) !== 0n) throw new RangeError(`${name}: ${value} does not fit ${sizeBytes} bytes`)
    words.set(slot, (words.get(slot) ?? 0n) | (BigInt(value) << BigInt(8 * offsetBytes)))
  }
  return new Map([...words].filter(([, value]) => value !== 0n).map(([slot, value]) => [word(BigInt(slot)), word(value)]))
}

/** Portal and system config as genesis has them. RangeError when a value does not fit its variable. */
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
