import { expect, it } from 'vitest'
import { banner } from './banner.ts'

const url = 'http://127.0.0.1:1'
const urls = { rpc: url, ws: url, rollup: url, verifier: url, verifierWs: url, l1: url, control: url }

function shown(blockTimeSec: number, flashblocks?: string): string {
  const facts = { chainId: 901, l1ChainId: 900, blockTimeSec, urls: { ...urls, ...(flashblocks && { flashblocks }) } }
  const rest = { contracts: { portal: '0x1', systemConfig: '0x2' } }
  return banner({ facts: { ...facts, ...rest }, accounts: [], owner: { address: '0x3', privateKey: '0x4' } } as never)
}

it('cli/devnet/banner: names the block time, and preconfirmations only with a publisher of flashblocks', () => {
  expect(shown(2, 'ws://127.0.0.1:2')).toMatch(/a block every 2 s\n.*verifier .*with preconfirmations\n.*flashblocks /s)
  expect(shown(0.2)).toContain('a block every 0.2 s\n')
  expect(shown(0.2)).not.toMatch(/preconfirmations|flashblocks/)
})
