import { getContractAddress, type Hex } from 'viem'
import { expect } from 'vitest'
import type { L1Story } from './checks.ts'
import { type Cast, kinds } from './deeds.ts'
import type { BlockWithReceipts, Receipt } from './reader.ts'
import type { Rollup } from './rules.ts'

export type Found = { readonly receipt: Receipt; readonly at: BlockWithReceipts }

/** The chains as the checks of deposits read them. */
export type DepositView = {
  readonly story: L1Story
  readonly rollup: Rollup
  readonly actors: Cast
  readonly lab: Hex
  /** returns the receipt of a transaction on L2 */
  readonly receiptOf: (hash: Hex) => Found | undefined
}

/** Returns the deposits of an L1 transaction with their receipts on L2. */
export function l2Of({ story, rollup, receiptOf }: DepositView, l1Hash: Hex): readonly Found[] {
  const number = story.blocks.findIndex(({ block }) => block.transactions.some(({ hash }) => hash === l1Hash))
  const l1Receipt = story.blocks[number]?.receipts.find(({ transactionHash }) => transactionHash === l1Hash)
  if (l1Receipt === undefined) throw new Error(`no L1 transaction ${l1Hash}`)
  // the deposits of an L1 block are in the order of its logs
  const before = story.blocks[number]?.receipts.slice(0, story.blocks[number]?.receipts.indexOf(l1Receipt)) ?? []
  const isDeposit = ({ address }: { address: Hex }): boolean => address.toLowerCase() === rollup.deposit_contract_address.toLowerCase()
  const skipped = before.flatMap(({ logs }) => logs.filter(isDeposit)).length
  const count = l1Receipt.logs.filter(isDeposit).length
  const hashes = story.deposits[number]?.slice(skipped, skipped + count) ?? []
  return hashes.map((hash) => {
    const found = receiptOf(hash)
    if (!found) throw new Error(`the deposit ${hash} is not on L2`)
    return found
  })
}

const alias = (address: Hex): Hex =>
  `0x${((BigInt(address) + 0x1111000000000000000000000000000000001111n) % (1n << 160n)).toString(16).padStart(40, '0')}`

/** Checks the results of a deposit on L2. @param phase fork in which it was sent */
export function checkDeposit(view: DepositView, phase: string, kind: string, l1Hash: Hex): void {
  const { story, actors, lab } = view
  const found = l2Of(view, l1Hash)
  if (kind === 'failing on L1') {
    const receipt = story.blocks.flatMap(({ receipts }) => receipts).find(({ transactionHash }) => transactionHash === l1Hash)
    expect([receipt?.status, receipt?.logs, found]).toEqual(['0x0', [], []])
    return
  }
  const wanted = kinds[kind]
  if (wanted === undefined) throw new Error(`no kind ${kind}`)
  expect(found.length).toBe(kind === 'aliased' ? 2 : 1)
  for (const { receipt, at } of found) {
    const what = `${phase}: a deposit that ${wanted.name}`
    const tx = at.block.transactions.find(({ hash }) => hash === receipt.transactionHash)
    if (tx === undefined) throw new Error(what)
    expect(receipt.status, what).toBe(wanted.status)
    expect(receipt.logs.length, what).toBe(wanted.logs)
    const [used, gas] = [BigInt(receipt.gasUsed), BigInt(tx.gas)]
    if (wanted.gasUsed === 'all') expect(used, what).toBe(gas)
    else if (wanted.gasUsed === 'some') expect(used > 21_000n && used < gas, what).toBe(true)
    else expect(used, what).toBe(wanted.gasUsed)
    expect(tx.from.toLowerCase(), what).toBe((kind === 'aliased' ? alias(actors.depositorAddress) : actors.person).toLowerCase())
    if (kind === 'creation') {
      const from = tx.from
      const made = getContractAddress({ from, nonce: BigInt(receipt.depositNonce ?? 0) })
      expect(receipt.contractAddress?.toLowerCase(), what).toBe(made.toLowerCase())
    }
    if (kind === 'call') expect(receipt.logs[0]?.address.toLowerCase(), what).toBe(lab.toLowerCase())
  }
}
