import { systemCall } from '#block/execution/systemCalls'
import type { EvmSession } from '#evm/ports'
import { concatBytes } from '#lib/bytes'
import { sha256 } from '#lib/sha256'
import { type Address, type Hash, hashFromBytes, parseAddress, parseHash } from '#types/ids'
import type { Log } from '#types/log'
import type { Receipt } from '#types/receipt'

/** EIP-7002. */
export const withdrawalRequestsContract: Address = parseAddress('0x00000961ef480eb55e80d19ad83579a64c007002')
/** EIP-7251. */
export const consolidationRequestsContract: Address = parseAddress('0x0000bbddc7ce488642fb579f8b00f3a590007251')
/** Hash of the event signature DepositEvent(bytes,bytes,bytes,bytes,bytes). */
const depositTopic = parseHash('0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5')
/** Size of a deposit event in bytes, and [offset, size] of public key, credentials, amount, signature and index. @see EIP-6110 */
const depositEventBytes = 576
const depositFields = [
  [192, 48],
  [288, 32],
  [352, 8],
  [416, 96],
  [544, 8],
] as const
/** [offset, value] of the ABI words that must be present: five field offsets, then five lengths. */
const depositWords = [
  [0, 160],
  [32, 256],
  [64, 320],
  [96, 384],
  [128, 512],
  [160, 48],
  [256, 32],
  [320, 8],
  [384, 96],
  [512, 8],
] as const

/** Decodes the request in a deposit event; undefined when the event does not have the ABI layout. */
function depositRequest({ data }: Log): Uint8Array | undefined {
  if (data.length !== depositEventBytes) return undefined
  const view = new DataView(data.buffer, data.byteOffset, data.length)
  const isLaidOut = depositWords.every(
    ([at, value]) => data.subarray(at, at + 28).every((byte) => byte === 0) && view.getUint32(at + 28) === value,
  )
  return isLaidOut ? concatBytes(...depositFields.map(([at, size]) => data.subarray(at, at + size))) : undefined
}

function depositRequests(contract: Address, receipts: readonly Receipt[]): Uint8Array | undefined {
  const events = receipts.flatMap(({ logs }) => logs).filter(({ address, topics }) => address === contract && topics[0] === depositTopic)
  const requests: Uint8Array[] = []
  for (const event of events) {
    const request = depositRequest(event)
    if (request === undefined) return undefined
    requests.push(request)
  }
  return concatBytes(...requests)
}

/** Empties the request queue of a system contract. @returns the requests; undefined when the contract does not exist or fails */
function dequeued(session: EvmSession, contract: Address): Uint8Array | undefined {
  const outcome = systemCall(session, contract, new Uint8Array(0))
  return outcome?.kind === 'success' ? outcome.output : undefined
}

/**
 * Computes the requests hash of a block of Ethereum: deposits from events, then withdrawals and consolidations from the queues of their system
 * contracts, which are emptied.
 * @returns 'invalid' when an event has a wrong layout or a contract fails; then the block is invalid
 * @see EIP-7685, "Block Header"; EIP-6110; EIP-7002; EIP-7251
 */
export function collectRequests(
  session: EvmSession,
  depositContract: Address,
  receipts: readonly Receipt[],
): { readonly kind: 'requests'; readonly hash: Hash } | { readonly kind: 'invalid'; readonly reason: string } {
  const lists = [
    ['deposit', depositRequests(depositContract, receipts)],
    ['withdrawal', dequeued(session, withdrawalRequestsContract)],
    ['consolidation', dequeued(session, consolidationRequestsContract)],
  ] as const
  const digests: Uint8Array[] = []
  for (const [type, [name, list]] of lists.entries()) {
    if (list === undefined) return { kind: 'invalid', reason: `the ${name} requests cannot be collected` }
    if (list.length > 0) digests.push(sha256(concatBytes(Uint8Array.of(type), list)))
  }
  return { kind: 'requests', hash: hashFromBytes(sha256(concatBytes(...digests))) }
}
