import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'

/**
 * Returns a function that takes the messages that have arrived at a port but were not yet dispatched by the event loop. It reads no closed port: Node
 * 24.21 crashes in `receiveMessageOnPort` while a port closes.
 */
export function drainOf<T>(port: MessagePort, take: (message: T) => void): () => void {
  let isOpen = true
  port.once('close', () => {
    isOpen = false
  })
  return () => {
    for (let next = isOpen && receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) take(next.message as T)
  }
}
