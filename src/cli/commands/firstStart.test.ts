import { expect, it } from 'vitest'
import { readFlags } from '../readFlags.ts'
import { chooseStart, explainStart, type StartWay } from './firstStart.ts'

const hash = `0x${'ab'.repeat(32)}`
const names = ['start', 'snapshot', 'source.state', 'start.block-hash', 'l1.rpc'] as const
const chosen = (raw: Readonly<Record<string, string>>) => chooseStart(readFlags(names, raw, {}))

it.each<[string, Readonly<Record<string, string>>, StartWay]>([
  ['nothing', {}, 'genesis'],
  ['L1 alone', { 'l1.rpc': 'http://a,http://b' }, 'genesis'],
  ['a snapshot without a voucher', { snapshot: '/s', 'l1.rpc': 'http://a' }, 'snapshot'],
  ['a snapshot, two endpoints of L1', { snapshot: '/s', 'l1.rpc': 'http://a,http://b' }, 'snapshot'],
  ['a snapshot, a hash', { snapshot: '/s', 'start.block-hash': hash }, 'snapshot'],
  ['sources, a hash', { 'source.state': 'http://s', 'start.block-hash': hash }, 'anchored'],
  ['sources, two endpoints of L1', { 'source.state': 'http://s', 'l1.rpc': 'http://a,http://b' }, 'anchored'],
  ['sources without a voucher', { 'source.state': 'http://s', 'l1.rpc': 'http://a' }, 'anchored'],
  ['a snapshot and sources', { snapshot: '/s', 'source.state': 'http://s', 'start.block-hash': hash }, 'snapshot'],
  ['a way that is named', { start: 'anchored', snapshot: '/s', 'source.state': 'http://s', 'start.block-hash': hash }, 'anchored'],
  ['a way that is named and lacks flags', { start: 'anchored' }, 'anchored'],
  ['genesis in spite of a snapshot', { start: 'genesis', snapshot: '/s', 'start.block-hash': hash }, 'genesis'],
])('cli/commands/firstStart: takes the best way that the flags allow: %s', (_title, raw, way) => {
  expect(chosen(raw).way).toBe(way)
})

it('cli/commands/firstStart: explains each way with its cost and what it needs', () => {
  const lines: (readonly [string, unknown])[] = []
  const log = { info: (message: string, fields: unknown) => lines.push([message, fields]) }
  explainStart(chosen({ 'source.state': 'http://s', 'l1.rpc': 'http://a' }), log as never)
  const voucher = '--l1.rpc with two endpoints of different hosts, or --start.block-hash'
  const cost = { bytes: expect.stringMatching(/\w/), takes: expect.stringMatching(/\w/), trust: expect.stringMatching(/\w/) }
  expect(lines.map(([, fields]) => fields)).toEqual([
    { way: 'snapshot', ...cost, needs: `--snapshot DIR|URL; ${voucher}` },
    { way: 'anchored', ...cost, needs: voucher },
    { way: 'genesis', ...cost },
    { way: 'anchored' },
  ])
})
