import { readFileSync } from 'node:fs'
import { Registry } from 'prom-client'
import { type Abi, type Chain, createPublicClient, createWalletClient, defineChain, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { SystemConfig } from '#chainspec/systemConfig'
import { compiledContracts, l1Contracts } from '#devnet/l1Contracts'
import type { MemoryL1Options } from '#devnet/memoryL1'
import type { DevnetL1 } from '#devnet/ports'
import { createL1Source, defaultL1Options, type HttpL1Source } from '#l1/l1Source'
import { l1Metrics } from '#l1/metrics'
import { systemClock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { addressOfKey } from '#lib/secp256k1'
import { type Address, addressFromBytes, parseHash } from '#types/ids'

/** Keys of the well-known development accounts 0 to 3. They are public: use them in tests only. */
export const keys = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6',
] as const
export const [user, owner, batcher, stranger] = keys
export const addressOf = (key: Hex): Address => addressFromBytes(addressOfKey(fromHex(key)))

export const devnetSystemConfig: SystemConfig = {
  batcher: addressOf(batcher),
  overhead: 0n,
  scalar: (1n << 248n) | (810_949n << 32n) | 1_368n,
  gasLimit: 120_000_000n,
  eip1559Denominator: 250,
  eip1559Elasticity: 6,
  operatorFeeScalar: 7,
  operatorFeeConstant: 9n,
  minBaseFee: 11n,
  daFootprintGasScalar: 400,
}

export const devnetL1Options: MemoryL1Options = {
  chainId: 900,
  genesisTimeSec: 1_700_000_000,
  slotSec: 2,
  accounts: keys.map((key) => ({ address: addressOf(key), balanceWei: 10_000n * 10n ** 18n })),
  contracts: l1Contracts({ owner: addressOf(owner), systemConfig: devnetSystemConfig, unsafeBlockSigner: addressOf(user) }),
}

const compiled = compiledContracts()
export const portalAbi = compiled.DevnetPortal.abi as Abi
export const systemConfigAbi = compiled.DevnetSystemConfig.abi as Abi

const fixture = JSON.parse(readFileSync(new URL('../../fixtures/kzg-blob.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, string>
>
const field = (name: string): Uint8Array => fromHex(fixture[name] ?? '')
const blob = new Uint8Array(131_072)
blob.set(field('data'))
/** Blob with its commitment and proof, computed by another implementation. */
export const provenBlob = {
  hash: parseHash(fixture['versionedHash'] ?? ''),
  blob,
  sidecar: { kind: 'blobs', blobs: [blob], commitments: [field('commitment')], proofs: [field('proof')] },
} as const

const chainOf = (l1: DevnetL1): Chain =>
  defineChain({
    id: l1.chainId,
    name: 'L1',
    nativeCurrency: { name: 'ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [l1.rpcUrl] } },
  })

/** viem's public client with a short polling interval. The first blob takes anvil seconds. */
export const viemReader = (l1: DevnetL1) =>
  createPublicClient({
    chain: chainOf(l1),
    transport: http(l1.rpcUrl, { retryCount: 0, timeout: 60_000 }),
    pollingInterval: 20,
    cacheTime: 0,
  })
export const viemWallet = (l1: DevnetL1, key: Hex) =>
  createWalletClient({
    chain: chainOf(l1),
    transport: http(l1.rpcUrl, { retryCount: 0, timeout: 60_000 }),
    account: privateKeyToAccount(key),
  })

/** L1 source of a node. It trusts the endpoint, since anvil's blocks with blobs fail verification. */
export function sourceOf(l1: DevnetL1): HttpL1Source {
  return createL1Source(
    { fetch, clock: systemClock, random: () => 0, log: silentLog, metrics: l1Metrics.register(new Registry()) },
    {
      ...defaultL1Options,
      rpcUrls: [l1.rpcUrl],
      beaconUrls: [l1.beaconUrl],
      chainId: l1.chainId,
      genesis: l1.genesis,
      readAheadBlocks: 0,
      ...(l1.kind === 'anvil' && { trustTransactions: true, slotSec: l1.slotSec }),
    },
  )
}
