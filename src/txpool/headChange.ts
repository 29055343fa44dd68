import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { BlockId } from '#types/blockRef'
import { emptyCodeHash } from '#types/ids'
import type { AccountChange } from '#types/stateDiff'
import { codeKind, type HeadReader } from './headReader.ts'
import type { SenderAccount, SenderQueue } from './senderQueue.ts'

/** Returns the record's blocks above a head, oldest first; undefined when they do not follow the head or the record lacks some of them. */
export function blocksAbove({ base, overlays, heads }: HeadRecord, head: BlockId): readonly ExecutedBlock[] | undefined {
  if (heads.unsafe.number <= head.number || head.number < base.number) return undefined
  const blocks = overlays.slice(head.number - base.number)
  return blocks[0]?.header.parentHash === head.hash ? blocks : undefined
}

/** Returns the last change that blocks make to an account; undefined when they do not change it. */
function changeOf(blocks: readonly ExecutedBlock[], addressKey: Uint8Array): AccountChange | null | undefined {
  for (let i = blocks.length - 1; i >= 0; i--) {
    const change = blocks[i]?.diff.account(addressKey)
    if (change !== undefined) return change
  }
  return undefined
}

/** Returns a sender's account after blocks; undefined when they do not change it. */
export function changedAccount(
  reader: HeadReader,
  { account, address, addressKey }: Pick<SenderQueue, 'account' | 'address' | 'addressKey'>,
  blocks: readonly ExecutedBlock[],
): SenderAccount | undefined {
  const change = changeOf(blocks, addressKey)
  if (change === undefined) return undefined
  if (change === null) return { nonce: 0n, balance: 0n, codeHash: emptyCodeHash, code: 'none' }
  const { nonce, balance, codeHash } = change
  if (codeHash === account.codeHash) return { ...account, nonce, balance }
  const code = blocks.findLast(({ diff }) => diff.code(codeHash))?.diff.code(codeHash)
  return code ? { nonce, balance, codeHash, code: codeKind(code) } : reader.account(address)
}
