import { expect, it } from 'vitest'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { ethRegistry, withNamespaces } from './methods.ts'

const context = fakeContext(fakeChain([[], []]))

it('rpc/methods: withNamespaces keeps exactly the methods of the chosen namespaces, and describes the selection', () => {
  const chosen = withNamespaces(ethRegistry, ['net', 'rpc'])
  expect([...chosen.keys()].filter((name) => !/^net_|^rpc[_.]/.test(name))).toEqual([])
  expect(chosen.get('net_version')).toBe(ethRegistry.get('net_version'))
  expect(chosen.get('rpc_modules')?.call(context, [])).toEqual({ net: '1.0', rpc: '1.0' })
  expect([...withNamespaces(ethRegistry, ['net']).keys()].every((name) => name.startsWith('net_'))).toBe(true)
  expect(withNamespaces(ethRegistry, []).size).toBe(0)
  expect(withNamespaces(ethRegistry, 'all')).toBe(ethRegistry)
})
