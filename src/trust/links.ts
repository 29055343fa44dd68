import { isActive } from '#chainspec/forks'
import { l2OutputRoot } from '#chainspec/l2OutputRoot'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { type Header, hashHeader } from '#types/header'
import type { Hash } from '#types/ids'
import { type Refusal, refused } from './refusal.ts'

/**
 * Returns the output root of a block from its header alone: from Isthmus on, the header has the storage root of the message passer. undefined: the block is
 * older. @see specs protocol/isthmus/exec-engine.md
 */
export function outputRootOf(config: RollupConfig, header: Header, hash = hashHeader(header)): Hash | undefined {
  const { stateRoot, withdrawalsRoot } = header
  if (withdrawalsRoot === undefined || !isActive(config.schedule, 'isthmus', header.timestamp)) return undefined
  return l2OutputRoot({ stateRoot, messagePasserStorageRoot: withdrawalsRoot, hash })
}

/**
 * Returns the header of a later block that descends from a header, by the parent hashes of the headers between them. Pure.
 * @param links headers of the blocks after `header`, ascending; untrusted
 */
export function linkedHeader(
  header: Header,
  links: readonly Header[],
  to: number,
): { readonly kind: 'linked'; readonly header: Header } | Refusal {
  let last = header
  for (const next of links.slice(0, to - header.number)) {
    if (next.number !== last.number + 1 || next.parentHash !== hashHeader(last)) {
      return refused(`header ${next.number} of the source is no child of block ${last.number}`, 'use another source of headers')
    }
    last = next
  }
  if (last.number === to) return { kind: 'linked', header: last }
  return refused(
    `headers ${last.number + 1} to ${to} are missing: they link block ${header.number} to the next block that L1 has a root of`,
    'use a source with the headers after its block, or a snapshot of a block that is a checkpoint',
  )
}
