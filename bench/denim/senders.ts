// Accounts that sign the transactions of Denim blocks, and what their calls are made of.
import { bigintFromBytes, concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256, keccak256Text } from '#lib/keccak'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import { addressOfKey, signDigest } from '#lib/secp256k1'
import { type Address, addressFromBytes } from '#types/ids'
import { signTransaction } from '#types/signing'
import type { Authorization } from '#types/transaction'

export const denimChainId = 901

export const senderCount = 1_000
const keys = Array.from({ length: senderCount }, (_, index) => keccak256Text(`denim sender ${index}`))
/** Accounts that sign the transactions in turn. */
export const senders: readonly Address[] = keys.map((key) => addressFromBytes(addressOfKey(key)))

export const word = (value: bigint | number | string): Uint8Array => fromHex(`0x${BigInt(value).toString(16).padStart(64, '0')}`)
export const selector = (signature: string): Uint8Array => keccak256Text(signature).subarray(0, 4)

/** Returns creation code that leaves this code. */
export const creationOf = (code: Uint8Array): Uint8Array =>
  concatBytes(fromHex(`0x61${code.length.toString(16).padStart(4, '0')}80600a5f395ff3`), code)

/** Returns the address of the contract that an account creates with a nonce below 128. */
export const createdBy = (creator: Address, nonce: number): Address =>
  addressFromBytes(keccak256(encodeRlp([fromHex(creator), nonce === 0 ? new Uint8Array() : Uint8Array.of(nonce)])).subarray(12))

export type Call = {
  readonly to: Address | null
  readonly value?: bigint
  readonly data: Uint8Array
  readonly gas: bigint
}

/** Signs calls, each with the next nonce of its sender. */
export class Signers {
  readonly #nonces: number[]

  /** @param nonces of the senders' next transactions; a sender without one has sent none */
  constructor(nonces: readonly number[] = []) {
    this.#nonces = [...nonces]
  }

  sign(sender: number, { to, value = 0n, data, gas }: Call): Uint8Array {
    const common = { chainId: BigInt(denimChainId), nonce: this.#next(sender), gasLimit: gas, value, data }
    const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 1_000_000n, accessList: [] }
    return signTransaction({ type: 2, to, ...common, ...fees }, keyOf(sender)).raw
  }

  /** Signs a call that also makes its sender run a contract's code (EIP-7702). */
  signDelegation(sender: number, contract: Address, { to, value = 0n, data, gas }: Call & { readonly to: Address }): Uint8Array {
    const common = { chainId: BigInt(denimChainId), nonce: this.#next(sender), gasLimit: gas, value, data }
    const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 1_000_000n, accessList: [] }
    const authorizationList = [authorizationOf(sender, contract, this.#next(sender))]
    return signTransaction({ type: 4, to, ...common, ...fees, authorizationList }, keyOf(sender)).raw
  }

  #next(sender: number): bigint {
    const nonce = this.#nonces[sender] ?? 0
    this.#nonces[sender] = nonce + 1
    return BigInt(nonce)
  }
}

const keyOf = (sender: number): Uint8Array => keys[sender] ?? new Uint8Array(32)

/** @see EIP-7702, "Parameters" */
function authorizationOf(sender: number, address: Address, nonce: bigint): Authorization {
  const chainId = BigInt(denimChainId)
  const signed = encodeRlp([rlpScalar(chainId), fromHex(address), rlpScalar(nonce)])
  const { signature, yParity } = signDigest(keccak256(concatBytes(Uint8Array.of(5), signed)), keyOf(sender))
  const [r, s] = [bigintFromBytes(signature.subarray(0, 32)), bigintFromBytes(signature.subarray(32))]
  return { chainId, address, nonce, yParity, r, s }
}
