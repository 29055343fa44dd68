import { expect, it } from 'vitest'
import { genesisHeader, verifyGenesisHash } from '#chainspec/genesis'
import { decodeBlock } from '#types/block'
import { hashHeader } from '#types/header'
import { type RecordedChainName, readRecordedChain, recordedChains } from './recordedChain.ts'

it.each(Object.keys(recordedChains) as RecordedChainName[])('devnet/recordedChain: %s is one linked chain', (name) => {
  const { l1, blocks, safeHeads, config, genesis } = readRecordedChain(name)
  const headers = blocks.map(({ raw }) => decodeBlock(raw).header)
  expect(headers.map(hashHeader)).toEqual(blocks.map(({ hash }) => hash))
  expect(headers.slice(1).map(({ parentHash }) => parentHash)).toEqual(blocks.slice(0, -1).map(({ hash }) => hash))
  expect(safeHeads).toHaveLength(l1.blocks.length)
  expect(safeHeads.at(-1)).toBe(blocks.length - 1)
  const stateRoot = headers[0]?.stateRoot
  if (!stateRoot) throw new Error('no genesis')
  verifyGenesisHash(config, genesisHeader(genesis, config.schedule, { stateRoot, messagePasserStorageRoot: stateRoot }))
})
