import type { NativeFork } from '#chainspec/evmRules'
import type { BlockEnv, Evm, EvmSession, Outcome, StateView } from '#evm/ports'
import { concatBytes } from '#lib/bytes'
import { activationRegistryAddress, factoryAddress } from '#nativeContracts/addresses'
import { type Address, addressFromBytes, parseAddress, zeroAddress, zeroHash } from '#types/ids'
import { call, encode, nameHash } from './abi.ts'
import { vectorRules } from './replay.ts'

const account = (digits: string): Address => parseAddress(`0x${digits.repeat(20)}`)
export const admin = account('ad')
export const alice = account('a1')
export const bob = account('b0')
export const carol = account('ca')
/** Gas of a message that should not lack any. */
export const enough = 10_000_000n

const roles = ['MINT_ROLE', 'BURN_ROLE', 'BURN_BLOCKED_ROLE', 'PAUSE_ROLE', 'UNPAUSE_ROLE', 'METADATA_ROLE', 'OPERATOR_ROLE', 'SEIZE_ROLE']

export const emptyView: StateView = {
  account: () => undefined,
  slot: () => undefined,
  code: (hash) => {
    throw new RangeError(`no code ${hash}`)
  },
  blockHash: () => undefined,
}

export const blockAt = (timestamp: number): BlockEnv => ({
  ...{ chainId: 8453n, number: 1, timestamp, beneficiary: zeroAddress, prevRandao: zeroHash },
  ...{ gasLimit: 400_000_000n, baseFee: 0n, blobBaseFee: 1n },
})

/** Runs a transaction with one message, without intrinsic gas. */
export function send(session: EvmSession, caller: Address, to: Address, data: Uint8Array, gas: bigint = enough): Outcome {
  session.beginTransaction({ origin: caller, gasPrice: 0n, blobHashes: [], warm: [] })
  const outcome = session.run({ caller, to, value: 0n, data, gas })
  session.endTransaction()
  return outcome
}

/** @throws Error when the transaction fails */
export function sendOk(session: EvmSession, caller: Address, to: Address, data: Uint8Array): Uint8Array {
  const outcome = send(session, caller, to, data)
  if (outcome.kind !== 'success') throw new Error(`${to}: ${outcome.kind} ${Buffer.from(outcome.output).toString('hex')}`)
  return outcome.output
}

/** Opens a session under a fork and activates all features. */
export function openNative(evm: Evm, fork: NativeFork, view: StateView = emptyView): EvmSession {
  const session = evm.open(view, blockAt(1_795_000_000), vectorRules(fork, admin))
  for (const name of ['base.b20_asset', 'base.b20_stablecoin', 'base.policy_registry']) {
    sendOk(session, admin, activationRegistryAddress, call('activate(bytes32)', nameHash(name)))
  }
  return session
}

/** Call data that create an asset with an admin. */
export function creationData(salt: number, initialAdmin: Address, calls: readonly Uint8Array[] = []): Uint8Array {
  const members = encode(1n, { text: 'Base Asset' }, { text: 'bASSET' }, initialAdmin, 6n)
  const params = concatBytes(encode(32n), members)
  const list = encode(calls)
  const heads = encode(0n, BigInt(salt), 128n, BigInt(128 + 32 + params.length))
  return concatBytes(
    call('createB20(uint8,bytes32,bytes,bytes[])').subarray(0, 4),
    heads,
    encode(BigInt(params.length)),
    params,
    list.subarray(32),
  )
}

/** Creates an asset whose admin has every role. */
export function createToken(session: EvmSession, salt = 1): Address {
  const token = addressFromBytes(sendOk(session, admin, factoryAddress, creationData(salt, admin)).subarray(12))
  for (const role of roles) sendOk(session, admin, token, call('grantRole(bytes32,address)', nameHash(role), admin))
  return token
}
