import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { answerPings } from './pongs.ts'

/** Socket whose pongs stay unsent until the test completes them. */
function scriptedSocket() {
  const pongs: string[] = []
  const sent: ((error?: Error) => void)[] = []
  const socket = Object.assign(new EventEmitter(), {
    pong(data: Buffer, _mask: boolean, onSent: (error?: Error) => void): void {
      pongs.push(data.toString())
      sent.push(onSent)
    },
  })
  return { socket, pongs, flush: (error?: Error) => sent.shift()?.(error) }
}

it('rpc/server/pongs: while a pong is being sent, keeps only the newest ping', () => {
  const { socket, pongs, flush } = scriptedSocket()
  answerPings(socket as never)
  for (const text of ['1', '2', '3', '4']) socket.emit('ping', Buffer.from(text))
  expect(pongs).toEqual(['1'])
  flush()
  expect(pongs).toEqual(['1', '4'])
  flush()
  socket.emit('ping', Buffer.from('5'))
  expect(pongs).toEqual(['1', '4', '5'])
})

it('rpc/server/pongs: sends no further pong after a failed one', () => {
  const { socket, pongs, flush } = scriptedSocket()
  answerPings(socket as never)
  for (const text of ['1', '2']) socket.emit('ping', Buffer.from(text))
  flush(new Error('gone'))
  expect(pongs).toEqual(['1'])
})
