#pragma once
typedef enum { GPIO_NUM_0 = 0, GPIO_NUM_14 = 14, GPIO_NUM_15 = 15, GPIO_NUM_32 = 32, GPIO_NUM_NC = -1 } gpio_num_t;
typedef enum { GPIO_MODE_INPUT = 1 } gpio_mode_t;
typedef enum { GPIO_PULLUP_ONLY = 0 } gpio_pull_mode_t;
typedef int esp_err_t;
#define ESP_OK 0
#define ESP_ERROR_CHECK(x) ((void)(x))
esp_err_t gpio_set_direction(gpio_num_t gpio_num, gpio_mode_t mode);
esp_err_t gpio_set_pull_mode(gpio_num_t gpio_num, gpio_pull_mode_t pull);
int gpio_get_level(gpio_num_t gpio_num);
