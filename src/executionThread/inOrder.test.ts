import { expect, it } from 'vitest'
import { inOrder } from './inOrder.ts'

it('executionThread/inOrder: passes on an item that arrives while another one is passed on after it, and goes on after an error', () => {
  const passed: string[] = []
  const take = inOrder((item: string) => {
    passed.push(`${item} begins`)
    if (item === 'a') take('b')
    if (item === 'c') throw new Error('a listener')
    passed.push(`${item} ends`)
  })
  take('a')
  expect(() => take('c')).toThrow('a listener')
  take('d')
  expect(passed).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'd begins', 'd ends'])
})
