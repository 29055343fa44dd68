import type { EvmSession } from '#evm/ports'
import { concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import { recoverAddress, secp256k1HalfOrder } from '#lib/secp256k1'
import { delegateIn, delegationPrefix, maxNonce } from '#types/account'
import { type Address, addressFromBytes, emptyCodeHash, zeroAddress } from '#types/ids'
import { type Authorization, signatureBytes } from '#types/transaction'

/** Gas refund for an existing authority, because the transaction paid 25,000 gas for a new one. */
const existingAuthorityRefund = 12_500n

/** An authorization with a valid signature and chain id. It takes effect if the authority's account allows it. */
export type SignedAuthorization = { readonly authority: Address; readonly delegate: Address; readonly nonce: bigint }

function authorityOf(authorization: Authorization): Address | undefined {
  const { chainId, address, nonce, yParity, s } = authorization
  const signature = signatureBytes(authorization)
  if (!signature || s > secp256k1HalfOrder || (yParity !== 0 && yParity !== 1)) return undefined
  const message = concatBytes(Uint8Array.of(0x05), encodeRlp([rlpScalar(chainId), fromHex(address), rlpScalar(nonce)]))
  const signer = recoverAddress(keccak256(message), signature, yParity)
  return signer && addressFromBytes(signer)
}

/** Runs steps 1 to 3 of EIP-7702 on each entry; they need no state. Invalid entries are skipped. */
export function signedAuthorizations(list: readonly Authorization[], chainId: bigint): SignedAuthorization[] {
  return list.flatMap((authorization) => {
    const isHere = authorization.chainId === 0n || authorization.chainId === chainId
    const authority = isHere && authorization.nonce < maxNonce ? authorityOf(authorization) : undefined
    return authority ? [{ authority, delegate: authorization.address, nonce: authorization.nonce }] : []
  })
}

/**
 * Sets the delegations in order. Skips an entry that does not match its authority's account. Delegations persist when the transaction fails.
 * @returns gas for the refund counter
 * @see EIP-7702, "Behavior", steps 5 to 9
 */
export function applyAuthorizations(session: EvmSession, authorizations: readonly SignedAuthorization[]): bigint {
  let refund = 0n
  for (const { authority, delegate, nonce } of authorizations) {
    const account = session.account(authority)
    const isFree = !account || account.codeHash === emptyCodeHash || delegateIn(session.code(authority)) !== undefined
    if (!isFree || (account?.nonce ?? 0n) !== nonce) continue
    if (account) refund += existingAuthorityRefund
    session.setCode(authority, delegate === zeroAddress ? new Uint8Array(0) : concatBytes(delegationPrefix, fromHex(delegate)))
    session.setNonce(authority, nonce + 1n)
  }
  return refund
}
