import { userDepositSource } from '#chainspec/sourceHash'
import { encodeDeposit } from '#types/deposit'
import { type Address, type Hash, parseAddress } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import { encodeCall, eventTopic } from './abi.ts'
import { devnetFault } from './faults.ts'
import type { DevnetAccount } from './ports.ts'
import type { RemoteDevnet } from './remoteDevnet.ts'
import { isKnown, readReceipt, requireSuccess, type SentReceipt, sendFrom, type Wish } from './wallet.ts'

export type Deposited = { readonly l1: SentReceipt; readonly l2: SentReceipt }

const depositSignature = 'depositTransaction(address,uint256,uint64,bool,bytes)'
const depositTopic = eventTopic('TransactionDeposited(address,address,uint256,bytes)')
/** gas on L2 besides the cost of the data */
const depositGas = 200_000n
const gasPerDataByte = 40n

/** Returns the hash of a deposit's L2 transaction. @see specs protocol/deposits.md */
function depositHash(receipt: SentReceipt, portal: Address, from: Address, wish: Wish & { readonly to: Address }, gasLimit: bigint): Hash {
  const log = receipt.logs.find(({ address, topics }) => address === portal && topics[0] === depositTopic)
  if (log === undefined)
    throw devnetFault('TRANSACTION_FAILED', { hash: receipt.hash, where: 'L1, without a deposit event', block: receipt.block.number })
  return hashTransaction(
    encodeDeposit({
      type: 0x7e,
      sourceHash: userDepositSource(receipt.block.hash, log.logIndex),
      from,
      to: wish.to,
      mint: wish.value,
      value: wish.value,
      gasLimit,
      isSystemTransaction: false,
      data: wish.data,
    }),
  )
}

/**
 * Deposits through the portal on L1 and waits until L2 has executed it. Follows an L1 reorg, and sends the transaction again if it was lost.
 * @throws Fault DEVNET_RPC, TRANSACTION_FAILED, DEVNET_WAITED (all fatal)
 */
export async function deposit(devnet: RemoteDevnet, account: DevnetAccount, wish: Wish & { readonly to: Address }): Promise<Deposited> {
  const { l1, l2, facts } = devnet
  const portal = parseAddress(facts.contracts.portal)
  const from = parseAddress(account.address)
  const gasLimit = depositGas + gasPerDataByte * BigInt(wish.data.length)
  const data = encodeCall(depositSignature, [wish.to, wish.value, gasLimit, false, wish.data])
  const send = (): Promise<Hash> => sendFrom(l1, facts.l1ChainId, account, { to: portal, value: wish.value, data })
  let hash = await send()
  return devnet.until(`deposit ${hash} on L2`, async () => {
    const onL1 = await readReceipt(l1, hash)
    if (onL1 === undefined) {
      // after an L1 reorg the transaction may be in no block and no pool; its nonce is then free, so at most one of both is included
      if (!(await isKnown(l1, hash))) hash = await send()
      return undefined
    }
    requireSuccess(onL1, 'L1')
    const onL2 = await readReceipt(l2, depositHash(onL1, portal, from, wish, gasLimit))
    return onL2 && { l1: onL1, l2: requireSuccess(onL2, 'L2') }
  })
}
