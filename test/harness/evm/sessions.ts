import type { EvmFork, EvmRules } from '#chainspec/evmRules'
import { type GenesisAccount, genesisAccount } from '#chainspec/genesis'
import type { BlockEnv, EvmSession } from '#evm/ports'
import { createWasmEvm } from '#evm/wasmEvm'
import { fromHex } from '#lib/hex'
import { genesisState } from '#state/genesisState'
import { type Address, type Hash, parseAddress, zeroHash } from '#types/ids'

/** Readable address: 0x0a0a… for 0x0a. */
export const testAddress = (byte: number): Address => parseAddress(`0x${byte.toString(16).padStart(2, '0').repeat(20)}`)

export const testAccount = (
  address: Address,
  fields: { balance?: bigint; nonce?: bigint; code?: string; storage?: Map<Hash, bigint> } = {},
): GenesisAccount => {
  const { code, ...rest } = fields
  return genesisAccount(address, { ...rest, ...(code !== undefined && { code: fromHex(code) }) })
}

export const testBlock: BlockEnv = {
  chainId: 901n,
  number: 7,
  timestamp: 1_000,
  beneficiary: testAddress(0xbe),
  prevRandao: zeroHash,
  gasLimit: 30_000_000n,
  baseFee: 7n,
  blobBaseFee: 1n,
}

/** Opens a session on a state with only these accounts. */
export function openSession(accounts: readonly GenesisAccount[], rules: EvmRules, block: BlockEnv = testBlock): EvmSession {
  return createWasmEvm().open(genesisState(accounts).state.view, block, rules)
}

export const plainRules = (fork: EvmFork): EvmRules => ({ fork, precompileLimits: {} })
