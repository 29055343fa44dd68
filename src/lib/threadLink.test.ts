import { expect, it } from 'vitest'
import { ThreadLink } from './threadLink.ts'

type There = { double(of: number): Promise<number>; fail(): never; odd(): unknown; note(text: string): void }

/** Two linked ends in one thread; messages are cloned. */
function linked() {
  const notes: string[] = []
  const failures: unknown[] = []
  const there: There = {
    double: async (of) => 2 * of,
    fail: () => {
      throw new RangeError('too far')
    },
    odd: () => () => 1,
    note: (text) => {
      if (text === '') throw new Error('an empty note')
      notes.push(text)
    },
  }
  const onFailure = (error: unknown): void => void failures.push(error)
  const near: ThreadLink<There, object> = new ThreadLink({ post: (message) => far.receive(structuredClone(message)), here: {}, onFailure })
  const far: ThreadLink<object, There> = new ThreadLink({
    post: (message) => near.receive(structuredClone(message)),
    here: there,
    onFailure,
  })
  return { near, notes, failures }
}

it('lib/threadLink: ask resolves with the result of the named function or rejects with its error, also when the result cannot be cloned', async () => {
  const { near } = linked()
  expect(await Promise.all([near.ask('double', 4), near.ask('double', 5)])).toEqual([8, 10])
  await expect(near.ask('fail')).rejects.toMatchObject({ name: 'RangeError', message: 'too far' })
  await expect(near.ask('odd')).rejects.toThrow('could not be cloned')
})

it('lib/threadLink: a one-way request gets no answer; its error is reported on the receiving side', async () => {
  const { near, notes, failures } = linked()
  near.tell('note', 'one')
  near.tell('note', '')
  await near.ask('double', 0)
  expect(notes).toEqual(['one'])
  expect(failures).toMatchObject([{ message: 'an empty note' }])
})

it('lib/threadLink: pending and later asks reject when the other thread has ended', async () => {
  const silent: ThreadLink<There, object> = new ThreadLink({ post: () => {}, here: {}, onFailure: () => {} })
  const asked = silent.ask('double', 1)
  silent.end(new Error('gone'))
  silent.end(new Error('again'))
  await expect(asked).rejects.toThrow('gone')
  await expect(silent.ask('double', 1)).rejects.toThrow('gone')
})
