import { getContractAddress, type Hex } from 'viem'
import { type Cause, inTheirs, isObject, mapItems } from './causes.ts'
import type { JsonObject } from './json.ts'

/** op-geth, for the same deposit, and the protocol use the nonce in the receipt. */
function withContract(receipt: JsonObject): JsonObject {
  const { type, to, from, depositNonce } = receipt
  if (type !== '0x7e' || to !== null || depositNonce === undefined) return receipt
  const contractAddress = getContractAddress({ from: String(from) as Hex, nonce: BigInt(String(depositNonce)) }).toLowerCase()
  return { ...receipt, contractAddress }
}

/** Known differences between the recorded base-reth-node with base-consensus and this node. */
export const rethCauses: readonly Cause[] = [
  inTheirs('the contract of a deposit has the address of nonce 0', /Receipts?$/, (of) =>
    isObject(of) ? withContract(of) : mapItems(of, withContract),
  ),
]
