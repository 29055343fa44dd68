import { expect, it } from 'vitest'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { ethRegistry, withNamespaces } from './methods.ts'

const context = fakeContext(fakeChain([[], []]))

it('rpc/methods: a choice of namespaces has their methods and no others, and tells of itself', () => {
  const chosen = withNamespaces(ethRegistry, ['net', 'rpc'])
  expect([...chosen.keys()].filter((name) => !/^net_|^rpc[_.]/.test(name))).toEqual([])
  expect(chosen.get('net_version')).toBe(ethRegistry.get('net_version'))
  expect(chosen.get('rpc_modules')?.call(context, [])).toEqual({ net: '1.0', rpc: '1.0' })
  expect([...withNamespaces(ethRegistry, ['net']).keys()].every((name) => name.startsWith('net_'))).toBe(true)
  expect(withNamespaces(ethRegistry, []).size).toBe(0)
  expect(withNamespaces(ethRegistry, 'all')).toBe(ethRegistry)
})
